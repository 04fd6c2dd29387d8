// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "common/base/error.h"
#include "common/stats/estimate.h"

// Reference values: the header's formulas in 30 digits with Python's mpmath, Student's t quantile
// by root finding on the regularised incomplete beta function.
namespace tandem::stats {
namespace {

// The mean of `a` minus the mean of `b`.
Estimate difference_of_means(const std::vector<double>& a, const std::vector<double>& b) {
  return weighted_sum(std::array{Term{1, a}, Term{-1, b}});
}

TEST(WeightedSum, DifferenceOfTwo_IsWelchs) {
  const std::vector<double> a{27.5, 21.0, 19.0, 23.6, 17.0, 17.9};
  const std::vector<double> b{27.1, 22.0, 20.8, 23.4, 23.4, 23.5};
  const Estimate difference = difference_of_means(a, b);
  EXPECT_NEAR(difference.center, -2.3666666666666667, 1e-12);
  ASSERT_TRUE(difference.interval);
  EXPECT_NEAR(difference.interval->low, -6.6338459828022933, 1e-10);
  EXPECT_NEAR(difference.interval->high, 1.9005126494689599, 1e-10);
  EXPECT_EQ(difference.launches, 6);
  EXPECT_FALSE(is_resolved(difference));
}

TEST(WeightedSum, ThreeCells_UnequalLaunches) {
  const std::vector<double> a{10, 11, 12, 13};
  const std::vector<double> b{7, 7.5, 9};
  const std::vector<double> c{1, 1.25};
  const Estimate sum = weighted_sum(std::array{Term{1, a}, Term{-1, b}, Term{-1, c}});
  EXPECT_NEAR(sum.center, 2.5416666666666667, 1e-12);
  EXPECT_NEAR(sum.interval->low, 0.2660230338787792, 1e-10);
  EXPECT_NEAR(sum.interval->high, 4.8173102994545541, 1e-10);
  EXPECT_EQ(sum.launches, 2);
  EXPECT_TRUE(is_resolved(sum));
}

TEST(WeightedSum, Weights_MultiplyMeansAndErrors) {
  const std::vector<double> a{10, 11, 12, 13};
  const std::vector<double> b{7, 7.5, 9};
  const Estimate sum = weighted_sum(std::array{Term{2, a}, Term{-0.5, b}});
  EXPECT_NEAR(sum.center, 19.083333333333333, 1e-12);
  EXPECT_NEAR(sum.interval->low, 15.085465910928391, 1e-10);
  EXPECT_NEAR(sum.interval->high, 23.081200755738275, 1e-10);
}

TEST(WeightedSum, DifferencesAlongALadder_SumToItsEnds) {
  const std::vector<double> top{30, 31}, middle{24, 22.5}, bottom{20, 21};
  const double sum =
      difference_of_means(top, middle).center + difference_of_means(middle, bottom).center;
  EXPECT_NEAR(sum, difference_of_means(top, bottom).center, 1e-12);
}

TEST(WeightedSum, OneLaunch_HasNoInterval_AndResolvesNothing) {
  const std::vector<double> a{10, 11};
  const std::vector<double> b{7};
  const Estimate difference = difference_of_means(a, b);
  EXPECT_DOUBLE_EQ(difference.center, 3.5);
  EXPECT_FALSE(difference.interval);
  EXPECT_FALSE(is_resolved(difference));
}

TEST(WeightedSum, WithoutScatter_TheIntervalIsAPoint) {
  const std::vector<double> a{3, 3};
  const std::vector<double> b{1, 1};
  const Estimate difference = difference_of_means(a, b);
  EXPECT_DOUBLE_EQ(difference.interval->low, 2);
  EXPECT_DOUBLE_EQ(difference.interval->high, 2);
  EXPECT_TRUE(is_resolved(difference));
}

TEST(WeightedSum, NoTerms_IsALogicError) { EXPECT_THROW((void)weighted_sum({}), Error); }

}  // namespace
}  // namespace tandem::stats
