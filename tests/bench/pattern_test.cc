// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "bench/driver/device_values.h"
#include "tests/support/errors.h"

namespace tandem::bench {
namespace {

constexpr std::int64_t kElements = 1000;

TEST(Pattern, SumsAreExactInEveryStoredType) {
  for (const int ranks : {1, 2, 3, 8, 256}) {
    const Pattern pattern(DType::kBFloat16, ranks);
    for (std::int64_t i = 0; i < kElements; ++i) {
      const float sum = pattern.sum(i);
      ASSERT_EQ(static_cast<float>(BFloat16(sum)), sum) << ranks << " ranks, element " << i;
      ASSERT_EQ(static_cast<float>(Float16(sum)), sum) << ranks << " ranks, element " << i;
    }
  }
}

TEST(Pattern, RanksAndElementsDiffer) {
  const Pattern pattern(DType::kFloat32, 2);
  std::set<float> values;
  int same = 0;
  for (std::int64_t i = 0; i < kElements; ++i) {
    values.insert(pattern.value(0, i));
    if (pattern.value(0, i) == pattern.value(1, i)) ++same;
    if (pattern.value(0, i) == pattern.value(0, i + 256)) ++same;
  }
  EXPECT_GT(values.size(), 200U);
  EXPECT_LT(same, kElements / 20);  // by chance 8
}

TEST(Pattern, MoreRanksThanSumsCanHold_IsAUsageError) {
  const Error error = test::error_of([] { Pattern(DType::kBFloat16, 257); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(test::mentions(error, "bf16: sums over 257 ranks are not exact"));
}

}  // namespace
}  // namespace tandem::bench
