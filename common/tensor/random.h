// SPDX-License-Identifier: Apache-2.0
//
// Random floats by exact steps only (shifts, integer products, one conversion that does not round,
// one product with `scale`), so that every compiler, library and device makes the same bits.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tandem {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

namespace philox {

// The multipliers and the key increments (golden ratio, sqrt(3) - 1) of the paper, section 4.2.
inline constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
inline constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
inline constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
inline constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
inline constexpr int kRounds = 10;

[[nodiscard]] constexpr std::uint32_t high(std::uint64_t product) {
  return static_cast<std::uint32_t>(product >> 32);
}
[[nodiscard]] constexpr std::uint32_t low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}

}  // namespace philox

// Philox4x32-10 is the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random
// numbers: as easy as 1, 2, 3" (SC 2011). The generator is a pure function from counter and key to
// 128 random bits without state, so every rank and device can make any element of a sequence, in
// any order.
[[nodiscard]] constexpr PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < philox::kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{philox::kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{philox::kMultiplier1} * counter[2];
    counter = {philox::high(product1) ^ counter[1] ^ key[0], philox::low(product1),
               philox::high(product0) ^ counter[3] ^ key[1], philox::low(product0)};
    key[0] += philox::kWeyl0;
    key[1] += philox::kWeyl1;
  }
  return counter;
}

[[nodiscard]] constexpr PhiloxKey philox_key(std::uint64_t seed) {
  return {philox::low(seed), philox::high(seed)};
}

// The 32 random bits of element `index` of the sequence that `seed` names: word index % 4 of the
// block whose counter is index / 4 and whose key is the seed.
[[nodiscard]] constexpr std::uint32_t random_bits(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t block = index / 4;
  return philox4x32({philox::low(block), philox::high(block), 0, 0}, philox_key(seed))[index % 4];
}

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
