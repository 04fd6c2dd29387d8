// SPDX-License-Identifier: Apache-2.0
//
// Functions for loops that vectorise: no branches, products and sums rounded one by one, so that
// the result does not depend on the vector width of the machine.
#pragma once

#include <bit>
#include <cstdint>

namespace tandem::host {

// Inlined into functions that are compiled for several vector widths (base/vector_clones.h).
#if defined(__GNUC__)
#define TANDEM_INTO_LOOPS [[gnu::always_inline]] inline
#else
#define TANDEM_INTO_LOOPS inline
#endif

// Bounded to [low, high]; NaN stays.
TANDEM_INTO_LOOPS float bounded(float value, float low, float high) {
  const float above = value < low ? low : value;
  return above > high ? high : above;
}

// e^x for x <= 88, within 3e-7 of itself; 0 below -87, where it would soon be denormal. With n =
// x / ln 2 to the nearest, e^x = 2^n e^r and |r| <= ln 2 / 2, where 1 + r + r^2 q(r) is off by 1e-8
// (q: through the Chebyshev points of (e^r - 1 - r) / r^2).
TANDEM_INTO_LOOPS float exponential(float x) {
  constexpr float kLowest = -87;
  constexpr float kToWhole = 0x1.8p23F;     // added, it leaves no bits behind the point
  constexpr float kLn2High = 0x1.62e4p-1F;  // so short that n times it is exact
  constexpr float kLn2Low = 1.4286068e-6F;
  const float in = bounded(x, kLowest, 88);
  const float shifted = in * 1.44269504F + kToWhole;
  const float n = shifted - kToWhole;
  const float r = (in - n * kLn2High) - n * kLn2Low;
  const float q =
      (((0.00139262508F * r + 0.00836323288F) * r + 0.0416665542F) * r + 0.166665767F) * r + 0.5F;
  const float fraction = (q * (r * r) + r) + 1;
  const std::uint32_t power = (std::bit_cast<std::uint32_t>(shifted) << 23) + (127U << 23);
  const float result = fraction * std::bit_cast<float>(power);
  return x < kLowest ? 0.0F : result;
}

}  // namespace tandem::host
