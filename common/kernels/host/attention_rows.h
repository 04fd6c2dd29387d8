// SPDX-License-Identifier: Apache-2.0
//
// One head's part of attention's operands, as fp32 matrices of (positions, head_width): where they
// are fp32 they are read and written in place, each row far from the next, and others by way of
// scratch memory.
#pragma once

#include <cstdint>

#include "common/base/half_arrays.h"
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

// Queries, keys or values (0, 1, 2) in qkv and dqkv.
template <class T>
[[nodiscard]] Rows<T> packed_rows(const AttentionShape& s, T* qkv, HeadIndex at, int part) {
  const std::int64_t length = 3 * s.width();
  return {qkv + at.sample * s.positions * length + part * s.width() + at.head * s.head_width,
          length};
}

// In y and dy.
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

// What a matrix's rows are read as.
[[nodiscard]] inline Rows<const float> widened(const AttentionShape& /*s*/, Rows<const float> from,
                                               FloatPieces& /*scratch*/) {
  return from;
}
[[nodiscard]] inline Rows<const float> widened(const AttentionShape& s, Rows<const BFloat16> from,
                                               FloatPieces& scratch) {
  const Rows<float> wide = scratch.take_rows(s);
  for (std::int64_t i = 0; i < s.positions; ++i) widen(s.head_width, from.row(i), wide.row(i));
  return {wide.first, wide.length};
}

// Where a matrix is made, and what brings it from there to where it belongs.
[[nodiscard]] inline Rows<float> place_for(const AttentionShape& /*s*/, Rows<float> to,
                                           FloatPieces& /*scratch*/) {
  return to;
}
[[nodiscard]] inline Rows<float> place_for(const AttentionShape& s, Rows<BFloat16> /*to*/,
                                           FloatPieces& scratch) {
  return scratch.take_rows(s);
}
inline void deliver(const AttentionShape& /*s*/, Rows<float> /*from*/, Rows<float> /*to*/) {}
inline void deliver(const AttentionShape& s, Rows<float> from, Rows<BFloat16> to) {
  for (std::int64_t i = 0; i < s.positions; ++i) narrow(s.head_width, from.row(i), to.row(i));
}

}  // namespace tandem::host
