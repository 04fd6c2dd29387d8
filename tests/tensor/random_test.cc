// SPDX-License-Identifier: Apache-2.0
#include "common/tensor/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tandem {
namespace {

constexpr std::uint64_t kSeed = 0x1234567890abcdef;

std::vector<float> uniform(std::size_t count, std::uint64_t first, float scale = 1) {
  std::vector<float> values(count);
  fill_uniform(values, kSeed, first, scale);
  return values;
}

TEST(UniformFromBits, AtTheEnds_IsMinusOneAndJustBelowOne) {
  EXPECT_EQ(uniform_from_bits(0), -1.0F);
  EXPECT_EQ(uniform_from_bits(0x80000000), 0.0F);
  EXPECT_EQ(uniform_from_bits(0xffffffff), 1.0F - 0x1p-23F);
}

TEST(SmallIntegerFromBits, OverAllUpperHalves_IsEachValueEquallyOften) {
  int counts[3] = {};
  for (std::uint32_t upper = 0; upper < (1U << 16); ++upper) {
    ++counts[static_cast<int>(small_integer_from_bits(upper << 16)) + 1];
  }
  EXPECT_NEAR(counts[0], (1 << 16) / 3, 1);
  EXPECT_NEAR(counts[1], (1 << 16) / 3, 1);
  EXPECT_NEAR(counts[2], (1 << 16) / 3, 1);
}

TEST(ClassFromBits, AtTheEnds_IsTheFirstAndTheLastClass) {
  EXPECT_EQ(class_from_bits(0, 50257), 0);
  EXPECT_EQ(class_from_bits(0xffffffff, 50257), 50256);
  EXPECT_EQ(class_from_bits(0xffffffff, 1), 0);
  EXPECT_EQ(class_from_bits(0xffffffff, 1U << 24), (1 << 24) - 1);
}

TEST(ClassFromBits, OverAllUpperHalves_IsEachClassEquallyOften) {
  int counts[7] = {};
  for (std::uint32_t upper = 0; upper < (1U << 16); ++upper) {
    ++counts[static_cast<int>(class_from_bits(upper << 16, 7))];
  }
  for (const int count : counts) EXPECT_NEAR(count, (1 << 16) / 7, 1);
}

// Beginnings at every offset in a block, counts that end inside blocks and tiles, and an index
// whose block number does not fit 32 bits within the range.
class BulkFill : public ::testing::TestWithParam<std::tuple<std::uint64_t, std::size_t>> {};

TEST_P(BulkFill, Uniform_IsTheElementsOneByOne) {
  const auto [first, count] = GetParam();
  const std::vector<float> values = uniform(count, first, 0.3F);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(values[i], 0.3F * uniform_from_bits(random_bits(kSeed, first + i))) << i;
  }
}

TEST_P(BulkFill, SmallIntegers_IsTheElementsOneByOne) {
  const auto [first, count] = GetParam();
  std::vector<float> values(count);
  fill_small_integers(values, kSeed, first, 2);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(values[i], 2 * small_integer_from_bits(random_bits(kSeed, first + i))) << i;
  }
}

TEST_P(BulkFill, Classes_IsTheElementsOneByOne) {
  const auto [first, count] = GetParam();
  std::vector<float> values(count);
  fill_classes(values, kSeed, first, 50257);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(values[i], class_from_bits(random_bits(kSeed, first + i), 50257)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranges, BulkFill,
                         ::testing::Combine(::testing::Values<std::uint64_t>(0, 1, 2, 3, 1001,
                                                                             (1ULL << 34) - 70),
                                            ::testing::Values<std::size_t>(0, 1, 3, 64, 67, 300)));

TEST(FillUniform, InPieces_EqualsInOneGo) {
  const std::vector<float> whole = uniform(1000, 0);
  for (const std::size_t piece : {1U, 7U, 64U, 333U}) {
    for (std::size_t begin = 0; begin < whole.size(); begin += piece) {
      const std::size_t count = std::min(piece, whole.size() - begin);
      const std::vector<float> part = uniform(count, begin);
      ASSERT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + std::ptrdiff_t(begin)));
    }
  }
}

TEST(FillUniform, OfAMillion_HasMeanZeroAndVarianceOneThird) {
  const std::vector<float> values = uniform(1'000'000, 0);
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const double n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(1 / 3.0 / n));  // five standard errors
  EXPECT_NEAR(squares / n, 1 / 3.0, 0.002);
}

TEST(FillUniform, FromAnotherSeed_IsAnotherSequence) {
  std::vector<float> other(64);
  fill_uniform(other, kSeed + 1, 0, 1);
  EXPECT_NE(uniform(64, 0), other);
}

}  // namespace
}  // namespace tandem
