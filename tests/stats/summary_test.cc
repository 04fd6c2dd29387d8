// SPDX-License-Identifier: Apache-2.0
#include "common/stats/summary.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/base/error.h"

namespace tandem::stats {
namespace {

TEST(Summary, Median_OfEvenNumber_IsMeanOfTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(median(std::vector{4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_DOUBLE_EQ(median(std::vector{5.0, 1.0, 3.0}), 3.0);
  EXPECT_DOUBLE_EQ(median(std::vector{7.0}), 7.0);
}

TEST(Summary, Mean_KeepsSmallValuesBesideLargeOnes) {
  EXPECT_DOUBLE_EQ(mean(std::vector{1e16, 1.0, -1e16, 1.0}), 0.5);
}

TEST(Summary, Variance_IsUnbiased) {
  EXPECT_DOUBLE_EQ(sample_variance(std::vector{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}), 32.0 / 7);
  EXPECT_THROW((void)sample_variance(std::vector{1.0}), Error);
}

TEST(Summary, MinimumAndMaximum) {
  EXPECT_DOUBLE_EQ(minimum(std::vector{3.0, -1.0, 2.0}), -1);
  EXPECT_DOUBLE_EQ(maximum(std::vector{3.0, -1.0, 2.0}), 3);
}

TEST(Summary, Percentile_IsByNearestRank) {
  const std::vector values{15.0, 50.0, 20.0, 40.0, 35.0};
  EXPECT_DOUBLE_EQ(percentile(values, 5), 15);
  EXPECT_DOUBLE_EQ(percentile(values, 30), 20);
  EXPECT_DOUBLE_EQ(percentile(values, 40), 20);
  EXPECT_DOUBLE_EQ(percentile(values, 50), 35);
  EXPECT_DOUBLE_EQ(percentile(values, 100), 50);
}

TEST(Summary, Percentile_OfWholeRanks_TakesThatValue) {
  std::vector<double> values;
  for (int i = 1; i <= 1000; ++i) values.push_back(i);
  EXPECT_DOUBLE_EQ(percentile(values, 99), 990);
  EXPECT_DOUBLE_EQ(percentile(std::span(values).first(20), 95), 19);
  EXPECT_THROW((void)percentile(values, 0), Error);
  EXPECT_THROW((void)percentile(values, 101), Error);
}

TEST(Summary, EmptySample_Throws) {
  EXPECT_THROW((void)percentile({}, 50), Error);
  EXPECT_THROW((void)median({}), Error);
  EXPECT_THROW((void)mean({}), Error);
}

}  // namespace
}  // namespace tandem::stats
