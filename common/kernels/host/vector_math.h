// SPDX-License-Identifier: Apache-2.0
//
// Functions for loops that vectorise: no branches, products and sums rounded one by one, so that
// the result does not depend on the vector width of the machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "common/base/half.h"

namespace tandem::host {

// Inlined into functions that are compiled for several vector widths (base/vector_clones.h).
#if defined(__GNUC__)
#define TANDEM_INTO_LOOPS [[gnu::always_inline]] inline
#else
#define TANDEM_INTO_LOOPS inline
#endif

// `yes` or `no`, both computed. With `?:` the compiler would derive the rest of the loop's result
// for a constant, and select that result element by element.
TANDEM_INTO_LOOPS float choose(bool condition, float yes, float no) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(yes) & mask) |
                              (std::bit_cast<std::uint32_t>(no) & ~mask));
}

// The limits let NaN pass.
TANDEM_INTO_LOOPS float at_least(float low, float value) { return choose(value < low, low, value); }
TANDEM_INTO_LOOPS float at_most(float high, float value) {
  return choose(value > high, high, value);
}

// e^x for x from -88 to 88, with a relative error of 3e-7 where the result is a normal number, and
// 0 at the lower end. With n = x / ln 2 to the nearest, e^x = 2^n e^r and |r| <= ln 2 / 2, where 1
// + r + r^2 q(r) is off by 1e-8 (q: through the Chebyshev points of (e^r - 1 - r) / r^2). For n =
// -127 the exponent bits of 2^n are those of zero.
TANDEM_INTO_LOOPS float bounded_exponential(float x) {
  constexpr float kToWhole = 0x1.8p23F;     // adding this number rounds to a whole number
  constexpr float kLn2High = 0x1.62e4p-1F;  // short enough that n times this number is exact
  constexpr float kLn2Low = 1.4286068e-6F;
  const float shifted = x * 1.44269504F + kToWhole;
  const float n = shifted - kToWhole;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  const float q =
      (((0.00139262508F * r + 0.00836323288F) * r + 0.0416665542F) * r + 0.166665767F) * r + 0.5F;
  const float fraction = (q * (r * r) + r) + 1;
  const std::uint32_t power = (std::bit_cast<std::uint32_t>(shifted) << 23) + (127U << 23);
  return fraction * std::bit_cast<float>(power);
}

// e^x for all x up to 88, with the error of bounded_exponential().
TANDEM_INTO_LOOPS float exponential(float x) { return bounded_exponential(at_least(-88, x)); }

// The combination of all `lanes`, by halves: a fixed order without a long chain of dependent
// additions.
template <int count, class T>
TANDEM_INTO_LOOPS T folded_sum(T* lanes) {
  for (int j = 0; j < count / 2; ++j) lanes[j] += lanes[j + count / 2];
  if constexpr (count > 2) return folded_sum<count / 2>(lanes);
  return lanes[0];
}

// The largest of `lanes`, NaN left out.
template <int count>
TANDEM_INTO_LOOPS float folded_largest(float* lanes) {
  for (int j = 0; j < count / 2; ++j) {
    const float other = lanes[j + count / 2];
    lanes[j] = other > lanes[j] ? other : lanes[j];
  }
  if constexpr (count > 2) return folded_largest<count / 2>(lanes);
  return lanes[0];
}

// A sum over elements goes to kSums partial sums, element i to sum i % kSums: this order is fixed,
// whatever the vector width, and vectorises without reordering.
constexpr int kSums = 32;

[[nodiscard]] constexpr double total(const double (&sums)[kSums]) {
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

// a[0] b[0] + a[1] b[1] + ..., in double. Thread-safe.
[[nodiscard]] double dot_product(std::int64_t count, const float* a, const float* b);

// sum[i] = a[i] + b[i], in place too. Thread-safe.
void add(std::int64_t count, const float* a, const float* b, float* sum);
void add(std::int64_t count, const float* a, const BFloat16* b, float* sum);

// Copies between fp32 and a type of operands.
inline void copy_row(std::int64_t count, const float* from, float* to) {
  std::copy_n(from, count, to);
}
inline void copy_row(std::int64_t count, const BFloat16* from, float* to) {
  widen(count, from, to);
}
inline void copy_row(std::int64_t count, const float* from, BFloat16* to) {
  narrow(count, from, to);
}

// Softmax in parts, over one row that stays in the cache between the passes. Run by the caller at
// once; thread-safe on disjoint operands.

// The largest of one or more values, NaN left out.
[[nodiscard]] float largest(std::int64_t count, const float* values);

// out[i] = e^(in[i] - base), in place too; base is the largest of `in`, or so near to the largest
// that nothing overflows. Returns the sum of all out[i], whose error does not grow with the count.
double exponentials(std::int64_t count, const float* in, float base, float* out);

// Returns the sum of exponentials alone.
[[nodiscard]] double sum_of_exponentials(std::int64_t count, const float* in, float base);

// values[i] *= factor
void multiply(std::int64_t count, float* values, float factor);

}  // namespace tandem::host
