// SPDX-License-Identifier: Apache-2.0
#include "common/base/half.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tandem {
namespace {

// What IEEE 754 says of a format, in double, where all of this is exact.
template <class T>
struct Format;
template <>
struct Format<BFloat16> {
  static constexpr int kFraction = 7;     // bits
  static constexpr int kSmallest = -126;  // exponent of the smallest normal number
  static constexpr int kLargest = 127;
};
template <>
struct Format<Float16> {
  static constexpr int kFraction = 10;
  static constexpr int kSmallest = -14;
  static constexpr int kLargest = 15;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
double value_of(std::uint16_t bits) {
  const int exponent = (bits & 0x7fff) >> Format<T>::kFraction;
  const int fraction = bits & ((1 << Format<T>::kFraction) - 1);
  const int largest = Format<T>::kLargest + 1 - Format<T>::kSmallest + 1;  // infinity's and NaN's
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == largest) return fraction == 0 ? sign * kInfinity : std::nan("");
  const int scale = std::max(exponent, 1) - 1 + Format<T>::kSmallest - Format<T>::kFraction;
  const int implied = exponent == 0 ? 0 : 1 << Format<T>::kFraction;
  return sign * std::ldexp(implied + fraction, scale);
}

// The nearest multiple of the format's step at `value`, ties to even: nearbyint's rounding mode.
template <class T>
double nearest(double value) {
  if (value == 0 || std::isinf(value)) return value;
  const int exponent = std::max(std::ilogb(value), Format<T>::kSmallest);
  const int step = exponent - Format<T>::kFraction;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
  const double limit = std::ldexp(1, Format<T>::kLargest + 1);
  return std::abs(rounded) < limit ? rounded : std::copysign(kInfinity, value);
}

template <class T>
class Half : public ::testing::Test {
 public:
  static T of_bits(int bits) {
    T half;
    half.bits = static_cast<std::uint16_t>(bits);
    return half;
  }

  static bool is_nan(int bits) { return std::isnan(value_of<T>(static_cast<std::uint16_t>(bits))); }

  // The finite numbers of one sign, and the two floats around every middle between neighbours.
  static std::vector<float> telling_values() {
    constexpr float kEnd = std::numeric_limits<float>::infinity();
    std::vector<float> values{0, std::numeric_limits<float>::denorm_min(),
                              std::numeric_limits<float>::max(), kEnd};
    for (int bits = 0; !is_nan(bits + 1); ++bits) {
      const auto here = static_cast<float>(value_of<T>(static_cast<std::uint16_t>(bits)));
      const double next = value_of<T>(static_cast<std::uint16_t>(bits + 1));
      // Beyond the largest number the middle is where the next one would have been.
      const double end = std::isinf(next) ? std::ldexp(1, Format<T>::kLargest + 1) : next;
      const auto middle = static_cast<float>((double{here} + end) / 2);
      for (const float value : {here, std::nextafterf(here, 0), std::nextafterf(here, kEnd), middle,
                                std::nextafterf(middle, 0), std::nextafterf(middle, kEnd)}) {
        values.push_back(value);
      }
    }
    return values;
  }
};

using Types = ::testing::Types<BFloat16, Float16>;
TYPED_TEST_SUITE(Half, Types);

TYPED_TEST(Half, EveryPattern_IsItsValueAsAFloat) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto value = static_cast<float>(this->of_bits(bits));
    if (this->is_nan(bits)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
    } else {
      EXPECT_EQ(double{value}, value_of<TypeParam>(static_cast<std::uint16_t>(bits))) << bits;
    }
    EXPECT_EQ(std::signbit(value), bits >= 0x8000) << bits;
  }
}

TYPED_TEST(Half, EveryPattern_MakesTheRoundTrip) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const TypeParam back(static_cast<float>(this->of_bits(bits)));
    if (this->is_nan(bits)) {
      EXPECT_TRUE(this->is_nan(back.bits)) << bits;
      EXPECT_EQ(back.bits & 0x8000, bits & 0x8000) << bits;
    } else {
      EXPECT_EQ(back.bits, bits);
    }
  }
}

// Beside and at each middle: what is nearer wins, a tie goes to the even neighbour, subnormal
// numbers keep their step, and what is half a step beyond the largest number is infinite.
TYPED_TEST(Half, OfAFloat_IsTheNearest) {
  for (const float value : this->telling_values()) {
    for (const float signed_value : {value, -value}) {
      const TypeParam half(signed_value);
      EXPECT_EQ(value_of<TypeParam>(half.bits), nearest<TypeParam>(signed_value)) << signed_value;
      EXPECT_EQ((half.bits & 0x8000) != 0, std::signbit(signed_value)) << signed_value;
    }
  }
}

// Every pattern of the fraction's lower part, where a carry or a sticky bit may be lost.
TYPED_TEST(Half, OfAFloatsLowerBits_IsTheNearest) {
  for (std::uint32_t lower = 0; lower < 0x10000; ++lower) {
    for (const std::uint32_t upper : {0x3f800000U, 0x3fff0000U, 0x387f0000U, 0x33810000U}) {
      const auto value = std::bit_cast<float>(upper | lower);
      EXPECT_EQ(value_of<TypeParam>(TypeParam(value).bits), nearest<TypeParam>(value)) << value;
    }
  }
}

TYPED_TEST(Half, OfNan_IsNanWhereverItsBitsAre) {
  for (const std::uint32_t bits : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0x7f80ffffU}) {
    for (const std::uint32_t sign : {0U, 0x80000000U}) {
      const TypeParam half(std::bit_cast<float>(sign | bits));
      EXPECT_TRUE(this->is_nan(half.bits)) << bits;
      EXPECT_EQ(half.bits >> 15, sign >> 31) << bits;
    }
  }
}

// Odd counts too, which end in a part of a vector.
TYPED_TEST(Half, Arrays_EqualOneByOne) {
  std::vector<float> values = this->telling_values();
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = -values[i];
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{8}, values.size()}) {
    std::vector<TypeParam> narrowed(count);
    std::vector<float> widened(count);
    narrow(static_cast<std::int64_t>(count), values.data(), narrowed.data());
    widen(static_cast<std::int64_t>(count), narrowed.data(), widened.data());
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(narrowed[i], TypeParam(values[i])) << values[i];
      ASSERT_EQ(std::bit_cast<std::uint32_t>(widened[i]),
                std::bit_cast<std::uint32_t>(static_cast<float>(narrowed[i])));
    }
  }
}

TYPED_TEST(Half, ArraysOfNan_StayNan) {
  const std::vector<float> values(9, std::nanf(""));
  std::vector<TypeParam> narrowed(9);
  std::vector<float> widened(9);
  narrow(9, values.data(), narrowed.data());
  widen(9, narrowed.data(), widened.data());
  for (const float value : widened) EXPECT_TRUE(std::isnan(value));
}

TEST(HalfByHand, KnownNumbers_HaveTheirBits) {
  EXPECT_EQ(BFloat16(1.0F).bits, 0x3f80);
  EXPECT_EQ(Float16(1.0F).bits, 0x3c00);
  EXPECT_EQ(Float16(65504.0F).bits, 0x7bff);
  EXPECT_EQ(Float16(65520.0F).bits, 0x7c00);
  EXPECT_EQ(Float16(0x1p-24F).bits, 0x0001);
  EXPECT_EQ(Float16(0x1p-25F).bits, 0x0000);  // a tie, zero is even
  EXPECT_EQ(BFloat16(-0.0F).bits, 0x8000);
  static_assert(Float16(2.0F).bits == 0x4000);  // also at compile time
}

}  // namespace
}  // namespace tandem
