// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/attention.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "common/kernels/cuda/element_type.h"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/grid.h"
#include "common/kernels/cuda/row_functions.h"

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
  const std::int64_t stride = round_up(shape.positions, kPackOfScores);
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

namespace {

// Some heads of one sample.
struct Heads {
  std::int64_t sample;
  std::int64_t first;
  std::int64_t count;
};

// Where the operands of some heads begin, and their scores in scratch memory. Scores in T lie over
// those in fp32 where they are the same, and after them otherwise.
template <class T>
class HeadOperands {
 public:
  HeadOperands(const AttentionShape& shape, const Heads& heads, const ScoreMemory& memory)
      : shape_(shape),
        heads_(heads),
        scores_(reinterpret_cast<float*>(memory.scratch.data())),
        dscores_(scores_ + memory.tiles.count) {
    if constexpr (std::is_same_v<T, float>) {
      probabilities_ = scores_;
      dproducts_ = dscores_;
    } else {
      probabilities_ = reinterpret_cast<T*>(dscores_ + memory.tiles.count);
      dproducts_ = probabilities_ + memory.tiles.count;
    }
  }

  // Query, key or value (0, 1, 2), in qkv or dqkv.
  template <class Element>
  [[nodiscard]] Element* packed(Element* all, int part) const {
    const std::int64_t row = heads_.sample * shape_.positions;
    return all + (3 * row + part) * shape_.width() + heads_.first * shape_.head_width;
  }
  // In y or dy.
  template <class Element>
  [[nodiscard]] Element* result(Element* all) const {
    return all + heads_.sample * shape_.positions * shape_.width() +
           heads_.first * shape_.head_width;
  }
  // In log_sums.
  template <class Element>
  [[nodiscard]] Element* row(Element* all) const {
    return all + (heads_.sample * shape_.heads + heads_.first) * shape_.positions;
  }
  [[nodiscard]] std::int64_t heads() const { return heads_.count; }
  [[nodiscard]] std::int64_t rows() const { return heads_.count * shape_.positions; }

  [[nodiscard]] float* scores() const { return scores_; }
  [[nodiscard]] float* dscores() const { return dscores_; }
  [[nodiscard]] T* probabilities() const { return probabilities_; }
  [[nodiscard]] T* dproducts() const { return dproducts_; }

 private:
  const AttentionShape& shape_;
  const Heads heads_;
  float* const scores_;
  float* const dscores_;
  T* probabilities_;
  T* dproducts_;
};

ScoreRows rows_of(const AttentionShape& shape, const ScoreTiles& tiles) {
  return {shape.positions, tiles.stride,
          static_cast<float>(1 / std::sqrt(static_cast<double>(shape.head_width)))};
}

// Where and with what an operation is queued.
struct Means {
  cudaStream_t stream;
  MatrixProducts& products;
  const ScoreMemory& memory;
};

// For each batch of heads, of one sample after the other: queues q k^T, then rest(operands), until
// that returns an error.
template <class T, class Op, class Rest>
cudaError_t for_each_batch(const Means& by, const Op& op, const Rest& rest) {
  const AttentionShape& s = op.shape;
  const ScoreTiles& tiles = by.memory.tiles;
  const T* const qkv = as<T>(op.qkv.data());
  for (std::int64_t sample = 0; sample < s.batch; ++sample) {
    for (std::int64_t first = 0; first < s.heads; first += tiles.heads) {
      const std::int64_t count = std::min(tiles.heads, s.heads - first);
      const HeadOperands<T> at(s, {sample, first, count}, by.memory);
      by.products.enqueue(by.stream, scores_plan(s, op.qkv.dtype(), tiles, count, 3 * s.width()),
                          {.a = at.packed(qkv, 1), .b = at.packed(qkv, 0), .d = at.scores()});
      const cudaError_t status = rest(at);
      if (status != cudaSuccess) return status;
    }
  }
  return cudaSuccess;
}

template <class T>
cudaError_t run(const Means& by, const AttentionForward& op) {
  const AttentionShape& s = op.shape;
  const ScoreTiles& tiles = by.memory.tiles;
  return for_each_batch<T>(by, op, [&](const HeadOperands<T>& at) {
    const cudaError_t status = for_each_row(by.stream, at.rows(),
                                            SoftmaxRows<T>{.rows = rows_of(s, tiles),
                                                           .products = at.scores(),
                                                           .probabilities = at.probabilities(),
                                                           .log_sums = at.row(op.log_sums.data())});
    by.products.enqueue(by.stream, mix_plan(s, op.qkv.dtype(), tiles, at.heads(), s.width()),
                        {.a = at.packed(as<T>(op.qkv.data()), 2),
                         .b = at.probabilities(),
                         .d = at.result(as<T>(op.y.data()))});
    return status;
  });
}

// From the scores and probabilities of some heads, the gradients of their q, k and v.
template <class T>
void enqueue_gradients(const Means& by, const HeadOperands<T>& at, const AttentionBackward& op) {
  const AttentionShape& s = op.shape;
  const ScoreTiles& tiles = by.memory.tiles;
  const DType type = op.qkv.dtype();
  const T* const qkv = as<T>(op.qkv.data());
  T* const dqkv = as<T>(op.dqkv.data());
  by.products.enqueue(
      by.stream, mix_backward_plan(s, type, tiles, at.heads(), s.width()),
      {.a = at.result(as<T>(op.dy.data())), .b = at.probabilities(), .d = at.packed(dqkv, 2)});
  by.products.enqueue(by.stream, mix_plan(s, type, tiles, at.heads(), 3 * s.width()),
                      {.a = at.packed(qkv, 1), .b = at.dproducts(), .d = at.packed(dqkv, 0)});
  by.products.enqueue(by.stream, mix_backward_plan(s, type, tiles, at.heads(), 3 * s.width()),
                      {.a = at.packed(qkv, 0), .b = at.dproducts(), .d = at.packed(dqkv, 1)});
}

template <class T>
cudaError_t run(const Means& by, const AttentionBackward& op) {
  const AttentionShape& s = op.shape;
  const ScoreTiles& tiles = by.memory.tiles;
  return for_each_batch<T>(by, op, [&](const HeadOperands<T>& at) {
    by.products.enqueue(by.stream, scores_plan(s, op.qkv.dtype(), tiles, at.heads(), s.width()),
                        {.a = at.packed(as<T>(op.qkv.data()), 2),
                         .b = at.result(as<T>(op.dy.data())),
                         .d = at.dscores()});
    const cudaError_t status =
        for_each_row(by.stream, at.rows(),
                     SoftmaxBackwardRows<T>{.rows = rows_of(s, tiles),
                                            .products = at.scores(),
                                            .log_sums = at.row(op.log_sums.data()),
                                            .dprobabilities = at.dscores(),
                                            .probabilities = at.probabilities(),
                                            .dproducts = at.dproducts()});
    enqueue_gradients(by, at, op);
    return status;
  });
}

}  // namespace

cudaError_t enqueue_attention(cudaStream_t stream, MatrixProducts& products,
                              const ScoreMemory& memory, const AttentionForward& op) {
  return with_type(op.qkv.dtype(), [&]<class T>(T) {
    return run<T>({stream, products, memory}, op);
  });
}

cudaError_t enqueue_attention(cudaStream_t stream, MatrixProducts& products,
                              const ScoreMemory& memory, const AttentionBackward& op) {
  return with_type(op.qkv.dtype(), [&]<class T>(T) {
    return run<T>({stream, products, memory}, op);
  });
}

}  // namespace tandem::cuda
