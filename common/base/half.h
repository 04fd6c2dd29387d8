// SPDX-License-Identifier: Apache-2.0
//
// Numbers of 16 bits for storage; arithmetic is done in float. Rounding is to nearest, ties to
// even, as in IEEE 754; a number that is too large becomes infinite, and NaN stays NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace tandem {

// The upper half of a float: 8 bits of exponent, 7 of fraction.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit constexpr BFloat16(float value) : bits(rounded(std::bit_cast<std::uint32_t>(value))) {}
  explicit constexpr operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  bool operator==(const BFloat16&) const = default;  // compares the bits

 private:
  static constexpr std::uint16_t rounded(std::uint32_t value) {
    const bool is_nan = (value & 0x7fffffff) > 0x7f800000;
    // A NaN whose fraction lies in the lower half would become infinite.
    const std::uint32_t nan = (value >> 16) | 0x40;
    const std::uint32_t nearest = (value + 0x7fff + ((value >> 16) & 1)) >> 16;
    return static_cast<std::uint16_t>(is_nan ? nan : nearest);
  }
};

// IEEE 754 binary16: 5 bits of exponent, 10 of fraction.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit constexpr Float16(float value) : bits(rounded(value)) {}
  explicit constexpr operator float() const;
  bool operator==(const Float16&) const = default;  // compares the bits

 private:
  static constexpr std::uint16_t rounded(float value);
};

namespace half_detail {

// Computes both values, then takes one. With `?:` the compiler would move the floating-point sums
// below into branches, since the sums may trap, and loops over them would not vectorise.
constexpr std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

}  // namespace half_detail

constexpr std::uint16_t Float16::rounded(float value) {
  const auto all = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (all >> 16) & 0x8000;
  const std::uint32_t magnitude = all & 0x7fffffff;
  // A normal result: moves the exponent's bias from 127 to 15 and rounds away 13 bits of fraction.
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // A subnormal result: the addition of 0.5 leaves the rounded result in the low bits.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000;
  const std::uint32_t nan_or_infinite = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;
  std::uint32_t half = half_detail::select(magnitude < (113U << 23), subnormal, normal);
  // 65520 and more round to infinity.
  half = half_detail::select(magnitude >= 0x477ff000, nan_or_infinite, half);
  return static_cast<std::uint16_t>(sign | half);
}

constexpr Float16::operator float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t magnitude = bits & 0x7fff;
  const std::uint32_t normal = (magnitude << 13) + (112U << 23);
  const std::uint32_t special = (magnitude << 13) + (224U << 23);  // infinite, NaN
  // A subnormal number is a fraction of 2^-14, the smallest normal number.
  const float fraction =
      std::bit_cast<float>((magnitude << 13) + (113U << 23)) - std::bit_cast<float>(113U << 23);
  std::uint32_t value =
      half_detail::select(magnitude < 0x400, std::bit_cast<std::uint32_t>(fraction), normal);
  value = half_detail::select(magnitude >= 0x7c00, special, value);
  return std::bit_cast<float>(sign | value);
}

static_assert(sizeof(BFloat16) == 2 && sizeof(Float16) == 2);

// Converts an array from float at the machine's vector width. The bits are the same as of one
// conversion after the other, except for a NaN's payload. Arrays do not overlap. Thread-safe.
void narrow(std::int64_t count, const float* in, BFloat16* out);
void narrow(std::int64_t count, const float* in, Float16* out);

// Does the same in the other direction.
void widen(std::int64_t count, const BFloat16* in, float* out);
void widen(std::int64_t count, const Float16* in, float* out);

}  // namespace tandem
