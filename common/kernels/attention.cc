// SPDX-License-Identifier: Apache-2.0
//
// Attention is computed head by head, and in each head by blocks of queries: the scores of a block
// with all keys that the block sees stay in the cache between the products, and keys after the
// block are never multiplied. A head's parts of the operands are copied to dense fp32 matrices of
// (positions, head_width) in scratch memory first: in the operands each row lies far from the next
// row, which from some 256 positions on costs the products more than the copies do.
#include "common/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/base/half.h"
#include "common/base/vector_clones.h"
#include "common/kernels/host/sgemm.h"
#include "common/kernels/host/vector_math.h"

namespace tandem::host {
namespace {

// A matrix of one head, in the operands or in scratch memory.
template <class T>
struct Rows {
  T* first;
  std::int64_t length;  // elements from one row to the next

  [[nodiscard]] T* row(std::int64_t i) const { return first + i * length; }
};

struct HeadIndex {
  std::int64_t sample;
  std::int64_t head;
};

// The rows of queries, keys or values (0, 1, 2) in qkv and dqkv.
template <class T>
[[nodiscard]] Rows<T> packed_rows(const AttentionShape& s, T* qkv, HeadIndex at, int part) {
  const std::int64_t length = 3 * s.width();
  return {qkv + at.sample * s.positions * length + part * s.width() + at.head * s.head_width,
          length};
}

// The rows of a head in y and dy.
template <class T>
[[nodiscard]] Rows<T> result_rows(const AttentionShape& s, T* y, HeadIndex at) {
  return {y + at.sample * s.positions * s.width() + at.head * s.head_width, s.width()};
}

// Scratch memory, handed out from the front.
class FloatPieces {
 public:
  explicit FloatPieces(std::byte* memory) : next_(reinterpret_cast<float*>(memory)) {}

  [[nodiscard]] float* take(std::int64_t count) {
    float* const piece = next_;
    next_ += count;
    return piece;
  }

  [[nodiscard]] Rows<float> take_rows(const AttentionShape& s) {
    return {take(s.positions * s.head_width), s.head_width};
  }

 private:
  float* next_;
};

// Copies a matrix of the operands to scratch memory, as the products read matrices.
template <class T>
[[nodiscard]] Rows<const float> gathered(const AttentionShape& s, Rows<const T> from,
                                         FloatPieces& scratch) {
  const Rows<float> to = scratch.take_rows(s);
  for (std::int64_t i = 0; i < s.positions; ++i) copy_row(s.head_width, from.row(i), to.row(i));
  return {to.first, to.length};
}

// Copies a matrix from scratch memory to its place in the operands.
template <class T>
void deliver(const AttentionShape& s, Rows<float> from, Rows<T> to) {
  for (std::int64_t i = 0; i < s.positions; ++i) copy_row(s.head_width, from.row(i), to.row(i));
}

constexpr std::int64_t kBlock = 64;  // queries

float scale_of(const AttentionShape& s) {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(s.head_width)));
}

// Queries begin .. begin + count, which see `keys` keys; the last query sees all of these keys.
struct Block {
  std::int64_t begin;
  std::int64_t count;

  [[nodiscard]] std::int64_t keys() const { return begin + count; }
  [[nodiscard]] std::int64_t seen_by(std::int64_t i) const { return begin + i + 1; }
};

Block block_from(const AttentionShape& s, std::int64_t begin) {
  return {begin, std::min(kBlock, s.positions - begin)};
}

// product = alpha a b^T, for each query of the block (a row of a) and each key (a row of b).
void multiply_pairs(const AttentionShape& s, const Block& block, Rows<const float> a,
                    Rows<const float> b, float alpha, float* product /* (count, keys) */) {
  sgemm({.m = block.count,
         .n = block.keys(),
         .k = s.head_width,
         .a = {a.row(block.begin), a.length},
         .b = {b.first, b.length, 'T'},
         .product = product,
         .row_length = block.keys(),
         .alpha = alpha});
}

// The block's rows of `to` = pairs . b
void gather_keys(const AttentionShape& s, const Block& block,
                 const float* pairs /* (count, keys) */, Rows<const float> b, Rows<float> to) {
  sgemm({.m = block.count,
         .n = s.head_width,
         .k = block.keys(),
         .a = {pairs, block.keys()},
         .b = {b.first, b.length},
         .product = to.row(block.begin),
         .row_length = to.length});
}

// The keys' rows of `to` += pairs^T . the block's rows of a; the last block, which has all keys,
// writes `to` first.
void scatter_to_keys(const AttentionShape& s, const Block& block,
                     const float* pairs /* (count, keys) */, Rows<const float> a, Rows<float> to) {
  sgemm({.m = block.keys(),
         .n = s.head_width,
         .k = block.count,
         .a = {pairs, block.keys(), 'T'},
         .b = {a.row(block.begin), a.length},
         .product = to.first,
         .row_length = to.length,
         .beta = block.keys() == s.positions ? 0.0F : 1.0F});
}

// Turns the gradient of probabilities into the gradient of scores: naive_transformer.h has the
// formula.
TANDEM_VECTOR_CLONES
void differentiate_softmax(std::int64_t count, const float* probabilities, float row_dot,
                           float scale, float* gradient) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) {
    gradient[i] = probabilities[i] * (gradient[i] - row_dot) * scale;
  }
}

struct Forward {
  Rows<const float> q;
  Rows<const float> k;
  Rows<const float> v;
  Rows<float> y;
  float* log_sums;  // (positions)
  float* scores;    // (kBlock, positions)
};

// The division by the sum of exponentials is left to the result, which has fewer elements.
void forward_block(const AttentionShape& s, const Forward& f, const Block& block) {
  multiply_pairs(s, block, f.q, f.k, scale_of(s), f.scores);
  float inverse[kBlock];
  for (std::int64_t i = 0; i < block.count; ++i) {
    const std::int64_t seen = block.seen_by(i);
    float* const row = f.scores + i * block.keys();
    const float base = largest(seen, row);
    const double sum = exponentials(seen, row, base, row);
    std::fill(row + seen, row + block.keys(), 0.0F);
    f.log_sums[block.begin + i] = static_cast<float>(static_cast<double>(base) + std::log(sum));
    inverse[i] = static_cast<float>(1 / sum);
  }
  gather_keys(s, block, f.scores, f.v, f.y);
  for (std::int64_t i = 0; i < block.count; ++i) {
    multiply(s.head_width, f.y.row(block.begin + i), inverse[i]);
  }
}

template <class T>
void forward_head(const AttentionForward& op, HeadIndex at, FloatPieces scratch) {
  const AttentionShape& s = op.shape;
  const T* const qkv = op.qkv.as<const T>().data();
  const Forward f{.q = gathered<T>(s, packed_rows(s, qkv, at, 0), scratch),
                  .k = gathered<T>(s, packed_rows(s, qkv, at, 1), scratch),
                  .v = gathered<T>(s, packed_rows(s, qkv, at, 2), scratch),
                  .y = scratch.take_rows(s),
                  .log_sums = op.log_sums.data() + (at.sample * s.heads + at.head) * s.positions,
                  .scores = scratch.take(kBlock * s.positions)};
  for (std::int64_t begin = 0; begin < s.positions; begin += kBlock) {
    forward_block(s, f, block_from(s, begin));
  }
  deliver(s, f.y, result_rows(s, op.y.as<T>().data(), at));
}

struct Backward {
  Rows<const float> q;
  Rows<const float> k;
  Rows<const float> v;
  Rows<const float> y;
  Rows<const float> dy;
  const float* log_sums;  // (positions)
  Rows<float> dq;
  Rows<float> dk;
  Rows<float> dv;
  float* probabilities;  // (kBlock, positions)
  float* dscores;        // (kBlock, positions)
};

void backward_block(const AttentionShape& s, const Backward& b, const Block& block) {
  const std::int64_t keys = block.keys();
  multiply_pairs(s, block, b.q, b.k, scale_of(s), b.probabilities);
  multiply_pairs(s, block, b.dy, b.v, 1, b.dscores);
  for (std::int64_t i = 0; i < block.count; ++i) {
    const std::int64_t query = block.begin + i;
    const std::int64_t seen = block.seen_by(i);
    float* const row = b.probabilities + i * keys;
    float* const gradient = b.dscores + i * keys;
    const double row_dot = dot_product(s.head_width, b.dy.row(query), b.y.row(query));
    exponentials(seen, row, b.log_sums[query], row);
    differentiate_softmax(seen, row, static_cast<float>(row_dot), scale_of(s), gradient);
    std::fill(row + seen, row + keys, 0.0F);
    std::fill(gradient + seen, gradient + keys, 0.0F);
  }
  scatter_to_keys(s, block, b.probabilities, b.dy, b.dv);
  scatter_to_keys(s, block, b.dscores, b.q, b.dk);
  gather_keys(s, block, b.dscores, b.k, b.dq);
}

template <class T>
void backward_head(const AttentionBackward& op, HeadIndex at, FloatPieces scratch) {
  const AttentionShape& s = op.shape;
  const T* const qkv = op.qkv.as<const T>().data();
  T* const dqkv = op.dqkv.as<T>().data();
  const Backward b{.q = gathered<T>(s, packed_rows(s, qkv, at, 0), scratch),
                   .k = gathered<T>(s, packed_rows(s, qkv, at, 1), scratch),
                   .v = gathered<T>(s, packed_rows(s, qkv, at, 2), scratch),
                   .y = gathered<T>(s, result_rows(s, op.y.as<const T>().data(), at), scratch),
                   .dy = gathered<T>(s, result_rows(s, op.dy.as<const T>().data(), at), scratch),
                   .log_sums = op.log_sums.data() + (at.sample * s.heads + at.head) * s.positions,
                   .dq = scratch.take_rows(s),
                   .dk = scratch.take_rows(s),
                   .dv = scratch.take_rows(s),
                   .probabilities = scratch.take(kBlock * s.positions),
                   .dscores = scratch.take(kBlock * s.positions)};
  const std::int64_t last = (s.positions - 1) / kBlock * kBlock;
  for (std::int64_t begin = last; begin >= 0; begin -= kBlock) {
    backward_block(s, b, block_from(s, begin));
  }
  deliver(s, b.dq, packed_rows(s, dqkv, at, 0));
  deliver(s, b.dk, packed_rows(s, dqkv, at, 1));
  deliver(s, b.dv, packed_rows(s, dqkv, at, 2));
}

// `pairs` matrices of a block's scores, `matrices` of one head's rows.
Bytes size_of_scratch(const AttentionShape& s, int pairs, int matrices) {
  return bytes_of<float>((pairs * kBlock + matrices * s.head_width) * s.positions);
}

template <class Function>
void for_each_head(const AttentionShape& s, Function&& function) {
  for (std::int64_t sample = 0; sample < s.batch; ++sample) {
    for (std::int64_t head = 0; head < s.heads; ++head) function(HeadIndex{sample, head});
  }
}

}  // namespace

Bytes scratch_size(const AttentionForward& op) { return size_of_scratch(op.shape, 1, 4); }

Bytes scratch_size(const AttentionBackward& op) { return size_of_scratch(op.shape, 2, 8); }

void run(const AttentionForward& op, std::byte* scratch) {
  const bool is_bf16 = op.qkv.dtype() == DType::kBFloat16;
  for_each_head(op.shape, [&](HeadIndex at) {
    const auto head = is_bf16 ? forward_head<BFloat16> : forward_head<float>;
    head(op, at, FloatPieces(scratch));
  });
}

void run(const AttentionBackward& op, std::byte* scratch) {
  const bool is_bf16 = op.qkv.dtype() == DType::kBFloat16;
  for_each_head(op.shape, [&](HeadIndex at) {
    const auto head = is_bf16 ? backward_head<BFloat16> : backward_head<float>;
    head(op, at, FloatPieces(scratch));
  });
}

}  // namespace tandem::host
