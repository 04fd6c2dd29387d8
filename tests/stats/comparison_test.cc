// SPDX-License-Identifier: Apache-2.0
#include "common/stats/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/stats/estimate.h"

namespace tandem::stats {
namespace {

std::vector<double> exponentials(std::vector<double> values) {
  for (double& value : values) value = std::exp(value);
  return values;
}

TEST(Comparison, Ratio_IsWelchOnLogs) {
  // Logs: means 3 and 1.5, variances 1 and 0.25, n = 3; errors 1/3 and 1/12.
  const Estimate ratio = ratio_by_t(exponentials({2, 3, 4}), exponentials({1, 1.5, 2}));
  const double degrees = std::pow(1.0 / 3 + 1.0 / 12, 2) / (1.0 / 9 / 2 + 1.0 / 144 / 2);
  const double half = student_t_critical(0.95, degrees) * std::sqrt(1.0 / 3 + 1.0 / 12);
  EXPECT_NEAR(ratio.center, std::exp(1.5), 1e-12);
  ASSERT_TRUE(ratio.interval);
  EXPECT_NEAR(std::log(ratio.interval->low), 1.5 - half, 1e-12);
  EXPECT_NEAR(std::log(ratio.interval->high), 1.5 + half, 1e-12);
  EXPECT_EQ(ratio.launches, 3);
}

TEST(Comparison, Ratio_IsTheSameReadBackwards) {
  const std::vector<double> a{1.0, 1.1, 0.9};
  const std::vector<double> b{2.0, 2.2, 1.7};
  const Estimate forward = ratio_by_t(a, b);
  const Estimate backward = ratio_by_t(b, a);
  EXPECT_NEAR(forward.center * backward.center, 1, 1e-12);
  EXPECT_NEAR(forward.interval->low * backward.interval->high, 1, 1e-12);
}

TEST(Comparison, ScatterBetweenRuns_JoinsTheErrorAsAKnownOne) {
  // Logs: variances 1 and 0.5, n = 3 and 2; 2 * 0.5^2 beside errors of 1/3 and 1/4.
  const Estimate ratio = ratio_by_t(exponentials({2, 3, 4}), exponentials({1, 2}), 0.95, 0.5);
  const double error = 1.0 / 3 + 0.25 + 0.5;
  const double known = student_t_critical(0.95, 1) * 0.25 + student_t_critical(0.95, 2) / 3 +
                       normal_quantile(0.975) * 0.5;  // Cochran's, since 2 is below 3/4 of 3
  ASSERT_TRUE(ratio.interval);
  EXPECT_NEAR(std::log(ratio.interval->high), 1.5 + known / std::sqrt(error), 1e-12);
  EXPECT_NEAR(std::log(ratio.interval->low), 1.5 - known / std::sqrt(error), 1e-12);
}

TEST(Comparison, ScatterBetweenRuns_AddsItsOwnDegreesOfFreedom) {
  const Estimate ratio = ratio_by_t(exponentials({1, 2, 3}), exponentials({1, 2, 3}), 0.95, 0.5);
  const double error = 2.0 / 3 + 0.5;
  const double degrees = error * error / (2 * (1.0 / 9) / 2);
  const double half = student_t_critical(0.95, degrees) * std::sqrt(error);
  ASSERT_TRUE(ratio.interval);
  EXPECT_NEAR(std::log(ratio.interval->high), half, 1e-12);
}

TEST(Comparison, Judge_WholeIntervalOnOneSide_IsResolved) {
  EXPECT_EQ(judge({.center = 1.1, .interval = Interval{1.05, 1.2}, .launches = 6}),
            Verdict::kFaster);
  EXPECT_EQ(judge({.center = 0.9, .interval = Interval{0.8, 0.95}, .launches = 6}),
            Verdict::kSlower);
}

TEST(Comparison, Judge_IntervalThatHoldsOne_IsNotResolved) {
  EXPECT_EQ(judge({.center = 1.1, .interval = Interval{0.99, 1.2}, .launches = 6}),
            Verdict::kNotResolved);
  EXPECT_EQ(judge({.center = 1.1, .interval = Interval{1.0, 1.2}, .launches = 6}),
            Verdict::kNotResolved);
}

TEST(Comparison, Judge_OneLaunch_IsNotResolved) {
  EXPECT_EQ(judge(ratio_by_t(std::vector{2.0}, std::vector{1.0})), Verdict::kNotResolved);
}

TEST(Comparison, EqualLaunches_AreAPoint) {
  const Estimate ratio = ratio_by_t(std::vector{2.0, 2.0}, std::vector{1.0, 1.0});
  EXPECT_DOUBLE_EQ(ratio.interval->low, 2);
  EXPECT_DOUBLE_EQ(ratio.interval->high, 2);
  EXPECT_EQ(to_string(judge(ratio)), "faster");
}

}  // namespace
}  // namespace tandem::stats
