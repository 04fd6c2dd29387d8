// SPDX-License-Identifier: Apache-2.0
//
// One head's part of attention's operands, as dense fp32 matrices of (positions, head_width) in
// scratch memory. In the operands each row lies far from the next row, which from some 256
// positions on costs the products more than the copies do.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/half.h"
#include "common/kernels/operations.h"

namespace tandem::host {

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

inline void copy_row(std::int64_t count, const float* from, float* to) {
  std::copy_n(from, count, to);
}
inline void copy_row(std::int64_t count, const BFloat16* from, float* to) {
  widen(count, from, to);
}
inline void copy_row(std::int64_t count, const float* from, BFloat16* to) {
  narrow(count, from, to);
}

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

}  // namespace tandem::host
