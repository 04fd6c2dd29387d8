// SPDX-License-Identifier: Apache-2.0
//
// Random floats by exact steps only (shifts, integer products, one conversion that does not round,
// one product with `scale`), so that every compiler, library and device makes the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "common/tensor/philox.h"

namespace tandem {

// A value in [-1, 1) in steps of 2^-23, from the upper 24 bits, which a float holds exactly.
[[nodiscard]] constexpr float uniform_from_bits(std::uint32_t bits) {
  return static_cast<float>(static_cast<std::int32_t>(bits >> 8) - (1 << 23)) * 0x1p-23F;
}

// -1, 0 or 1, equally often to within 2^-16: the integer part of the upper 16 bits times 3 / 2^16,
// minus 1.
[[nodiscard]] constexpr float small_integer_from_bits(std::uint32_t bits) {
  return static_cast<float>(static_cast<std::int32_t>(((bits >> 16) * 3) >> 16) - 1);
}

// A whole number in [0, classes), each equally often to within 2^-32 * classes: the integer part of
// bits / 2^32 * classes. Exact as a float for at most 2^24 classes.
[[nodiscard]] constexpr float class_from_bits(std::uint32_t bits, std::uint32_t classes) {
  return static_cast<float>(static_cast<std::uint32_t>((std::uint64_t{bits} * classes) >> 32));
}

// Fills values[i] = scale * the element first + i of the sequence `seed`. The bits do not depend on
// the partition into calls. Thread-safe.
void fill_uniform(std::span<float> values, std::uint64_t seed, std::uint64_t first, float scale);
void fill_small_integers(std::span<float> values, std::uint64_t seed, std::uint64_t first,
                         float scale);

// Fills with whole numbers in [0, classes) instead; 1 <= classes <= 2^24.
void fill_classes(std::span<float> values, std::uint64_t seed, std::uint64_t first,
                  std::uint32_t classes);

}  // namespace tandem
