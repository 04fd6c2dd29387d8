// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/stats/comparison.h"
#include "common/stats/estimate.h"
#include "common/stats/summary.h"
#include "tests/stats/simulated.h"

namespace tandem::stats {
namespace {

TEST(Bootstrap, EqualData_EqualInterval) {
  const std::vector<double> values = Simulated(1).launches(25, 0.02);
  const Interval first = *center_of_medians(values).interval;
  const Interval again = *center_of_medians(values).interval;
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
}

TEST(Bootstrap, ResampledMeans_GatherAroundTheMean) {
  const std::vector<double> values = Simulated(2).launches(30, 0.1);
  const std::vector<double> means = resampled_means(values, 3);
  const double error = std::sqrt(sample_variance(values) / 30);
  EXPECT_NEAR(mean(means), mean(values), 0.1 * error);
  EXPECT_NEAR(std::sqrt(sample_variance(means)), error * std::sqrt(29.0 / 30), 0.05 * error);
  EXPECT_GE(minimum(means), minimum(values));
  EXPECT_LE(maximum(means), maximum(values));
}

TEST(Bootstrap, TakesOverAtTwentyLaunches) {
  const std::vector<double> values = Simulated(3).launches(20, 0.02);
  const std::vector<double> fewer(values.begin(), values.end() - 1);
  EXPECT_EQ(center_of_medians(fewer).interval->high, center_by_t(fewer).interval->high);
  EXPECT_NE(center_of_medians(values).interval->high, center_by_t(values).interval->high);
  EXPECT_EQ(center_of_medians(values).center, center_by_t(values).center);
}

// The one that scatters less than the other has few launches: that decides.
TEST(Bootstrap, Ratio_TakesOverWhereBothHaveTwenty) {
  const std::vector<double> many = Simulated(4).launches(20, 0.02);
  const std::vector<double> fewer(many.begin(), many.end() - 1);
  const auto high = [](const Estimate& estimate) { return estimate.interval->high; };
  EXPECT_EQ(high(ratio_of_medians(many, fewer)), high(ratio_by_t(many, fewer, kConfidence)));
  EXPECT_NE(high(ratio_of_medians(many, many)), high(ratio_by_t(many, many, kConfidence)));
}

TEST(Bootstrap, LaunchesThatAreEqual_AreAPoint) {
  const std::vector<double> values(20, 0.25);
  EXPECT_DOUBLE_EQ(center_of_medians(values).interval->low, 0.25);
  EXPECT_DOUBLE_EQ(ratio_of_medians(values, values).interval->high, 1);
}

}  // namespace
}  // namespace tandem::stats
