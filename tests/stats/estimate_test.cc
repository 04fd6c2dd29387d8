// SPDX-License-Identifier: Apache-2.0
#include "common/stats/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/base/error.h"

namespace tandem::stats {
namespace {

TEST(Estimate, CenterByT_IsGeometric) {
  // Logs of 1, e, e^2: mean 1, standard deviation 1, n = 3, t(0.95, 2) = 4.302652729749...
  const std::vector<double> medians{1, std::exp(1.0), std::exp(2.0)};
  const Estimate estimate = center_by_t(medians);
  const double half = 4.302652729749464 / std::sqrt(3.0);
  EXPECT_NEAR(estimate.center, std::exp(1.0), 1e-12);
  ASSERT_TRUE(estimate.interval);
  EXPECT_NEAR(estimate.interval->low, std::exp(1 - half), 1e-10);
  EXPECT_NEAR(estimate.interval->high, std::exp(1 + half), 1e-9);
  EXPECT_EQ(estimate.launches, 3);
}

TEST(Estimate, OneLaunch_HasNoInterval) {
  const std::vector<double> one{0.25};
  EXPECT_FALSE(center_by_t(one).interval);
  EXPECT_FALSE(center_of_means(one).interval);
  EXPECT_DOUBLE_EQ(center_by_t(one).center, 0.25);
}

TEST(Estimate, CenterOfMeans_IsArithmetic) {
  const Estimate estimate = center_of_means(std::vector{9.0, 11.0});
  EXPECT_DOUBLE_EQ(estimate.center, 10);
  EXPECT_NEAR(estimate.interval->high, 10 + 12.706204736174698, 1e-9);
}

TEST(Estimate, EqualLaunches_GiveAPoint) {
  const Estimate estimate = center_by_t(std::vector{0.5, 0.5, 0.5});
  EXPECT_DOUBLE_EQ(estimate.interval->low, estimate.interval->high);
}

TEST(Estimate, Rate_SwapsTheEnds) {
  const Estimate throughput = rate(100, {.center = 2, .interval = Interval{1, 4}, .launches = 6});
  EXPECT_DOUBLE_EQ(throughput.center, 50);
  EXPECT_DOUBLE_EQ(throughput.interval->low, 25);
  EXPECT_DOUBLE_EQ(throughput.interval->high, 100);
}

TEST(Estimate, Rate_OfATimeThatMayBeZero_HasNoInterval) {
  EXPECT_FALSE(rate(1, {.center = 1, .interval = Interval{-1, 3}, .launches = 2}).interval);
}

TEST(Estimate, TimesThatAreNotPositive_Throw) {
  EXPECT_THROW((void)center_by_t(std::vector{1.0, 0.0}), Error);
  EXPECT_THROW((void)center_by_t(std::vector{1.0, std::nan("")}), Error);
}

}  // namespace
}  // namespace tandem::stats
