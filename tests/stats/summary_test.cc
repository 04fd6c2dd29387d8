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

TEST(Summary, EmptySample_Throws) {
  EXPECT_THROW((void)median({}), Error);
  EXPECT_THROW((void)mean({}), Error);
}

}  // namespace
}  // namespace tandem::stats
