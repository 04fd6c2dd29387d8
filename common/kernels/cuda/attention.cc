// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/attention.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "common/kernels/cuda/attention.cuh"
#include "common/kernels/cuda/cuda_operations.h"
#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/for_each.h"

namespace tandem::cuda {

namespace {

constexpr Bytes kMostScratch = mib(256);
constexpr std::int64_t kPackOfScores = 8;  // elements: 16 bytes of bf16

// The rows of a band. In n bands (n + 1) / 2n of a causal matrix of scores is computed, so narrow
// bands save work. The first band still has enough tiles of 128 x 128, which libraries' kernels
// compute at a time, for the some 130 multiprocessors of a large GPU; fewer would take as long.
std::int64_t band_of(std::int64_t positions, std::int64_t batch) {
  constexpr std::int64_t kTile = 128;
  std::int64_t side = 1;
  while (batch * side * side < 128 && side * kTile < positions) side *= 2;
  return std::min(positions, side * kTile);
}

}  // namespace

ScoreTiles tiles_of(const AttentionShape& shape, DType type) {
  const auto& [samples, positions, heads, head_width] = shape;
  const auto [few, many] = std::minmax(samples, heads);
  const auto evenly = [](std::int64_t all, std::int64_t most) {
    return ceil_div(all, ceil_div(all, std::max<std::int64_t>(1, most)));
  };
  ScoreTiles tiles{.of_samples = samples > heads, .stride = round_up(positions, kPackOfScores)};
  tiles.count = positions * tiles.stride;
  const std::int64_t fitting = kMostScratch.value / scratch_size(tiles, type).value;
  tiles.batch = evenly(many, fitting);
  tiles.batches = evenly(few, fitting / many);
  tiles.band = band_of(positions, tiles.batch);
  tiles.count *= tiles.batch * tiles.batches;
  return tiles;
}

ProductPlan attention_plan(Product product, const AttentionShape& shape, DType type,
                           const ScoreTiles& tiles, const ScorePart& part) {
  // Row-major (count, head_width) of each head.
  const auto tokens = [&](std::int64_t count, std::int64_t stride) {
    return StoredMatrix{.rows = shape.head_width,
                        .columns = count,
                        .type = type,
                        .stride = stride,
                        .apart = tiles.of_samples ? shape.positions * stride : shape.head_width};
  };
  const StoredMatrix left = tokens(part.rows, part.rows_apart);
  const StoredMatrix right = tokens(part.columns, part.columns_apart);
  const StoredMatrix scores{.rows = part.columns,
                            .columns = part.rows,
                            .type = product == Product::kScores ? DType::kFloat32 : type,
                            .stride = tiles.stride,
                            .apart = shape.positions * tiles.stride};
  ProductPlan plan{.product = product,
                   .shape = {part.rows, part.columns, shape.head_width},
                   .a = right,
                   .b = scores,
                   .d = left,
                   .count = static_cast<std::int32_t>(tiles.batch)};
  if (product == Product::kScores) {
    plan.shape = {part.rows, shape.head_width, part.columns};
    std::swap(plan.b, plan.d);
    plan.a = read_as_transposed(right);
  } else if (product == Product::kMixBackward) {
    plan.shape = {part.columns, part.rows, shape.head_width};
    std::swap(plan.a, plan.d);
    plan.b = read_as_transposed(scores);
  }
  return plan;
}

namespace {

// Row-major (batch, positions, stride) from some batches' first head on.
template <class Element>
struct Tokens {
  Element* data;
  std::int64_t stride;
};

// Some batches, whose scores are in memory together. Scores in T lie over those in fp32 where they
// are the same, and after them otherwise.
template <class T>
class HeadsAtOnce {
 public:
  // `tiles`: of these batches, by their number and size.
  HeadsAtOnce(const AttentionMeans& by, const AttentionShape& shape, const ScoreTiles& tiles,
              std::int64_t sample, std::int64_t head)
      : by_(by), shape_(shape), tiles_(tiles), sample_(sample), head_(head) {}

  // Query, key or value (0, 1, 2), in qkv or dqkv.
  template <class Element>
  [[nodiscard]] Tokens<Element> packed(Element* all, int part) const {
    return tokens(all + part * shape_.width(), 3 * shape_.width());
  }
  // In y or dy.
  template <class Element>
  [[nodiscard]] Tokens<Element> result(Element* all) const {
    return tokens(all, shape_.width());
  }
  // In log_sums.
  template <class Element>
  [[nodiscard]] Element* row(Element* all) const {
    return all + (sample_ * shape_.heads + head_) * shape_.positions;
  }

  [[nodiscard]] float* scores() const { return reinterpret_cast<float*>(by_.scratch.data()); }
  [[nodiscard]] float* dscores() const { return scores() + tiles_.count; }
  [[nodiscard]] T* probabilities() const {
    if constexpr (std::is_same_v<T, float>) return scores();
    return reinterpret_cast<T*>(dscores() + tiles_.count);
  }
  [[nodiscard]] T* dproducts() const { return probabilities() + tiles_.count; }

  [[nodiscard]] ScoreRows rows() const {
    const std::int64_t of_sample = shape_.heads * shape_.positions;
    return {.positions = shape_.positions,
            .stride = tiles_.stride,
            .band = tiles_.band,
            .batch = tiles_.batch,
            .batches_apart = tiles_.of_samples ? shape_.positions : of_sample,
            .apart = tiles_.of_samples ? of_sample : shape_.positions,
            .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(shape_.head_width)))};
  }
  template <class Rows>
  [[nodiscard]] cudaError_t for_each_row_of_scores(const Rows& rows) const {
    return for_each_row(by_.stream, tiles_.batches * tiles_.batch * shape_.positions, rows);
  }

  // Queues a product, by bands of rows, each up to the last one's own position; of the transposed
  // scores by bands of columns, each from its first position on. `left` has the scores' rows, and
  // `right` their columns.
  template <Product product, class Left, class Right, class Score>
  void multiply(Tokens<Left> left, Tokens<Right> right, Score* scores) const {
    for (std::int64_t batch = 0; batch < tiles_.batches; ++batch) {
      for (std::int64_t first = 0; first < shape_.positions; first += tiles_.band) {
        const std::int64_t end = std::min(shape_.positions, first + tiles_.band);
        ScorePart part{first, end - first, left.stride, 0, end, right.stride};
        if constexpr (product == Product::kMixBackward) {
          part = {first, shape_.positions - first, left.stride, first, end - first, right.stride};
        }
        const std::int64_t row = batch * tiles_.batch * shape_.positions + part.row;
        Left* const l = at(left, batch, part.row);
        Right* const r = at(right, batch, part.column);
        Score* const s = scores + row * tiles_.stride + part.column;
        ProductOperands operands;
        if constexpr (product == Product::kScores) operands = {.a = r, .b = l, .d = s};
        if constexpr (product == Product::kMix) operands = {.a = r, .b = s, .d = l};
        if constexpr (product == Product::kMixBackward) operands = {.a = l, .b = s, .d = r};
        by_.products.enqueue(
            by_.stream, attention_plan(product, shape_, DTypeOf<T>::value, tiles_, part), operands);
      }
    }
  }

 private:
  template <class Element>
  [[nodiscard]] Tokens<Element> tokens(Element* all, std::int64_t stride) const {
    return {all + sample_ * shape_.positions * stride + head_ * shape_.head_width, stride};
  }
  template <class Element>
  [[nodiscard]] Element* at(Tokens<Element> tokens, std::int64_t batch, std::int64_t row) const {
    const std::int64_t apart =
        tiles_.of_samples ? shape_.head_width : shape_.positions * tokens.stride;
    return tokens.data + batch * apart + row * tokens.stride;
  }

  const AttentionMeans& by_;
  const AttentionShape& shape_;
  const ScoreTiles tiles_;
  const std::int64_t sample_;  // the first, as the head
  const std::int64_t head_;
};

// Calls body(HeadsAtOnce) for as many heads at a time as memory is for, until that returns an
// error.
template <class T, class Body>
cudaError_t for_all_heads(const AttentionMeans& by, const AttentionShape& s, const Body& body) {
  const ScoreTiles& tiles = by.tiles;
  const auto [few, many] = std::minmax(s.batch, s.heads);
  for (std::int64_t batch = 0; batch < few; batch += tiles.batches) {
    for (std::int64_t first = 0; first < many; first += tiles.batch) {
      ScoreTiles own = tiles;
      own.batch = std::min(tiles.batch, many - first);
      own.batches = std::min(tiles.batches, few - batch);
      const cudaError_t status = body(tiles.of_samples ? HeadsAtOnce<T>(by, s, own, first, batch)
                                                       : HeadsAtOnce<T>(by, s, own, batch, first));
      if (status != cudaSuccess) return status;
    }
  }
  return cudaSuccess;
}

template <class T>
cudaError_t run(const AttentionMeans& by, const AttentionForward& op) {
  const T* const qkv = as<T>(op.qkv.data());
  return for_all_heads<T>(by, op.shape, [&](const HeadsAtOnce<T>& at) {
    at.template multiply<Product::kScores>(at.packed(qkv, 0), at.packed(qkv, 1), at.scores());
    const cudaError_t status =
        at.for_each_row_of_scores(SoftmaxRows<T>{.rows = at.rows(),
                                                 .products = at.scores(),
                                                 .probabilities = at.probabilities(),
                                                 .log_sums = at.row(op.log_sums.data())});
    at.template multiply<Product::kMix>(at.result(as<T>(op.y.data())), at.packed(qkv, 2),
                                        at.probabilities());
    return status;
  });
}

template <class T>
cudaError_t run(const AttentionMeans& by, const AttentionBackward& op) {
  const T* const qkv = as<T>(op.qkv.data());
  T* const dqkv = as<T>(op.dqkv.data());
  return for_all_heads<T>(by, op.shape, [&](const HeadsAtOnce<T>& at) {
    const Tokens<const T> dy = at.result(as<T>(op.dy.data()));
    at.template multiply<Product::kScores>(at.packed(qkv, 0), at.packed(qkv, 1), at.scores());
    at.template multiply<Product::kScores>(dy, at.packed(qkv, 2), at.dscores());
    const cudaError_t status =
        at.for_each_row_of_scores(SoftmaxBackwardRows<T>{.rows = at.rows(),
                                                         .products = at.scores(),
                                                         .log_sums = at.row(op.log_sums.data()),
                                                         .dprobabilities = at.dscores(),
                                                         .probabilities = at.probabilities(),
                                                         .dproducts = at.dproducts()});
    at.template multiply<Product::kMixBackward>(dy, at.packed(dqkv, 2), at.probabilities());
    at.template multiply<Product::kMix>(at.packed(dqkv, 0), at.packed(qkv, 1), at.dproducts());
    at.template multiply<Product::kMixBackward>(at.packed(qkv, 0), at.packed(dqkv, 1),
                                                at.dproducts());
    return status;
  });
}

}  // namespace

template <class Op>
cudaError_t enqueue_attention(const AttentionMeans& by, const Op& op) {
  return with_type(op.qkv.dtype(), [&]<class T>(T) { return run<T>(by, op); });
}
template cudaError_t enqueue_attention(const AttentionMeans&, const AttentionForward&);
template cudaError_t enqueue_attention(const AttentionMeans&, const AttentionBackward&);

cudaError_t CudaOperations::launch(cudaStream_t stream, const AttentionForward& op) {
  return enqueue_attention({stream, products_, tiles_of(op.shape, op.qkv.dtype()), scores_.bytes()},
                           op);
}

cudaError_t CudaOperations::launch(cudaStream_t stream, const AttentionBackward& op) {
  return enqueue_attention({stream, products_, tiles_of(op.shape, op.qkv.dtype()), scores_.bytes()},
                           op);
}

}  // namespace tandem::cuda
