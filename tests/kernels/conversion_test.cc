// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "tests/kernels/operations_fixture.h"

namespace tandem {
namespace {

template <class T>
class Conversion : public OperationsFixture {
 public:
  Span<T> narrow_zeros(std::int64_t count) {
    const Span<float> memory = zeros((count + 1) / 2);
    return {reinterpret_cast<T*>(memory.data()), count, memory.device()};
  }

  // Numbers of all sizes, from those that round to zero in fp16 to those that become infinite.
  Span<float> of_all_sizes(std::int64_t count) {
    const Span<float> values = random(count);
    for (std::int64_t i = 0; i < count; ++i) {
      values.data()[i] = std::ldexp(values.data()[i], static_cast<int>(i % 50) - 30);
    }
    return values;
  }

  static std::vector<std::uint16_t> bits_of(Span<const T> values) {
    std::vector<std::uint16_t> bits;
    for (const T value : values) bits.push_back(value.bits);
    return bits;
  }
};

using Narrow = ::testing::Types<BFloat16, Float16>;
TYPED_TEST_SUITE(Conversion, Narrow);

constexpr std::int64_t kCounts[] = {1, 3, 15, 16, 31, 33, 1000, 65537};
constexpr float kDivisors[] = {1, 2, 3, 8, 7};

TYPED_TEST(Conversion, Narrowing_EqualsNaive) {
  for (const std::int64_t count : kCounts) {
    const Span<float> in = this->of_all_sizes(count);
    for (const float divisor : kDivisors) {
      const Span<TypeParam> actual = this->narrow_zeros(count);
      const Span<TypeParam> expected = this->narrow_zeros(count);
      this->run(Convert{.tensors = {{in, actual}}, .divisor = divisor});
      naive(Convert{.tensors = {{in, expected}}, .divisor = divisor});
      EXPECT_EQ(this->bits_of(actual), this->bits_of(expected)) << count << " by " << divisor;
    }
  }
}

TYPED_TEST(Conversion, Widening_EqualsNaive) {
  for (const std::int64_t count : kCounts) {
    const Span<TypeParam> in = this->narrow_zeros(count);
    naive(Convert{.tensors = {{this->random(count), in}}});
    for (const float divisor : kDivisors) {
      const Span<float> actual = this->zeros(count);
      const Span<float> expected = this->zeros(count);
      this->run(Convert{.tensors = {{in, actual}}, .divisor = divisor});
      naive(Convert{.tensors = {{in, expected}}, .divisor = divisor});
      expect_equal(actual, expected);
    }
  }
}

TYPED_TEST(Conversion, ThereAndBack_KeepsWhatFits) {
  const Span<float> values = this->filled({0, 1, -1, 0.5F, 240, -0x1p-14F});
  const Span<TypeParam> narrow = this->narrow_zeros(6);
  const Span<float> back = this->zeros(6);
  this->run(Convert{.tensors = {{values, narrow}}});
  this->run(Convert{.tensors = {{narrow, back}}});
  expect_equal(back, values);
}

TYPED_TEST(Conversion, OfNanAndInfinity_KeepsThem) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Span<float> values = this->filled({std::nanf(""), kInfinity, -kInfinity});
  for (const float divisor : {1.0F, 3.0F}) {
    const Span<TypeParam> narrow = this->narrow_zeros(3);
    const Span<float> back = this->zeros(3);
    this->run(Convert{.tensors = {{values, narrow}}, .divisor = divisor});
    this->run(Convert{.tensors = {{narrow, back}}});
    EXPECT_TRUE(std::isnan(back.data()[0]));
    EXPECT_EQ(back.data()[1], kInfinity);
    EXPECT_EQ(back.data()[2], -kInfinity);
  }
}

// 1/3 of a number that is rounded first is not always the rounded third: a conversion that divided
// before the cast would differ here.
TYPED_TEST(Conversion, WithADivisor_RoundsTwice) {
  const Span<float> values = this->of_all_sizes(1000);
  const Span<TypeParam> twice = this->narrow_zeros(1000);
  this->run(Convert{.tensors = {{values, twice}}, .divisor = 3});
  int differ = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const TypeParam rounded(values.data()[i]);
    EXPECT_EQ(twice.data()[i], TypeParam(static_cast<float>(rounded) / 3)) << i;
    if (twice.data()[i] != TypeParam(values.data()[i] / 3)) ++differ;
  }
  EXPECT_GT(differ, 0);
}

TYPED_TEST(Conversion, BetweenDifferentCounts_IsALogicError) {
  EXPECT_THROW(this->run(Convert{.tensors = {{this->zeros(6), this->narrow_zeros(10)}}}), Error);
}

TYPED_TEST(Conversion, BetweenTheSameWidths_IsALogicError) {
  const Span<float> wide = this->zeros(2);
  const Span<TypeParam> narrow = this->narrow_zeros(2);
  EXPECT_THROW(this->run(Convert{.tensors = {{wide, wide}}}), Error);
  EXPECT_THROW(this->run(Convert{.tensors = {{narrow, narrow}}}), Error);
  EXPECT_THROW(this->run(Convert{.tensors = {{this->zeros(3), narrow}}}), Error);
  EXPECT_THROW(this->run(Convert{.tensors = {{wide, narrow}, {narrow, wide}}}), Error);
  EXPECT_THROW(this->run(Convert{}), Error);
}

}  // namespace
}  // namespace tandem
