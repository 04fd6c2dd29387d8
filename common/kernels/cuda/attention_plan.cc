// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/attention_plan.h"

#include <algorithm>

#include "common/kernels/cuda/grid.h"

namespace tandem::cuda {
namespace {

constexpr Bytes kMostScratch = mib(256);
constexpr std::int64_t kPackOfScores = 8;  // elements: 16 bytes of bf16

// Row-major (positions, head_width) of each head, rows `stride` elements apart.
StoredMatrix of_tokens(const AttentionShape& shape, DType type, std::int64_t stride) {
  return {.rows = shape.head_width,
          .columns = shape.positions,
          .type = type,
          .stride = stride,
          .apart = shape.head_width};
}

// Row-major (queries, keys) of each head.
StoredMatrix of_scores(const AttentionShape& shape, DType type, const ScoreTiles& tiles) {
  return {.rows = shape.positions,
          .columns = shape.positions,
          .type = type,
          .stride = tiles.stride,
          .apart = shape.positions * tiles.stride};
}

std::int64_t packed(const AttentionShape& shape) { return 3 * shape.width(); }

}  // namespace

ScoreTiles tiles_of(const AttentionShape& shape, DType type) {
  const std::int64_t stride = ceil_div(shape.positions, kPackOfScores) * kPackOfScores;
  const auto of = [&](std::int64_t heads) {
    return ScoreTiles{heads, stride, heads * shape.positions * stride};
  };
  const std::int64_t fitting = kMostScratch.value / scratch_size(of(1), type).value;
  const std::int64_t batches = ceil_div(shape.heads, std::max<std::int64_t>(1, fitting));
  return of(ceil_div(shape.heads, batches));
}

Bytes scratch_size(const ScoreTiles& tiles, DType type) {
  const bool narrow = type != DType::kFloat32;
  return Bytes{tiles.wide().value + (narrow ? tiles.narrow().value : 0)};
}

ProductPlan scores_plan(const AttentionShape& shape, DType type, const ScoreTiles& tiles,
                        std::int64_t heads, std::int64_t left) {
  return {.product = Product::kScores,
          .shape = {shape.positions, shape.head_width, shape.positions},
          .a = read_as_transposed(of_tokens(shape, type, packed(shape))),
          .b = of_tokens(shape, type, left),
          .d = of_scores(shape, DType::kFloat32, tiles),
          .count = static_cast<std::int32_t>(heads)};
}

ProductPlan mix_plan(const AttentionShape& shape, DType type, const ScoreTiles& tiles,
                     std::int64_t heads, std::int64_t result) {
  return {.product = Product::kMix,
          .shape = {shape.positions, shape.positions, shape.head_width},
          .a = of_tokens(shape, type, packed(shape)),
          .b = of_scores(shape, type, tiles),
          .d = of_tokens(shape, type, result),
          .count = static_cast<std::int32_t>(heads)};
}

ProductPlan mix_backward_plan(const AttentionShape& shape, DType type, const ScoreTiles& tiles,
                              std::int64_t heads, std::int64_t right) {
  return {.product = Product::kMixBackward,
          .shape = {shape.positions, shape.positions, shape.head_width},
          .a = of_tokens(shape, type, right),
          .b = read_as_transposed(of_scores(shape, type, tiles)),
          .d = of_tokens(shape, type, packed(shape)),
          .count = static_cast<std::int32_t>(heads)};
}

}  // namespace tandem::cuda
