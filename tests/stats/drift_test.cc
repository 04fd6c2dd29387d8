// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/stats/steadiness.h"
#include "tests/stats/simulated.h"

namespace tandem::stats {
namespace {

// A share per launch, on top of 2 % of scatter.
std::vector<double> drifting(Simulated& simulated, int launches, double per_launch) {
  std::vector<double> medians = simulated.launches(launches, 0.02);
  for (std::size_t i = 0; i < medians.size(); ++i) {
    medians[i] *= std::exp(per_launch * static_cast<double>(i));
  }
  return medians;
}

double share_found(int launches, double per_launch, int runs = 2000) {
  Simulated simulated(7);
  int found = 0;
  for (int run = 0; run < runs; ++run) {
    found += find_drift(drifting(simulated, launches, per_launch)) ? 1 : 0;
  }
  return static_cast<double>(found) / runs;
}

TEST(Drift, SteadyLaunches_AreFlaggedOnceInAHundredAtMost) {
  for (const int launches : {6, 10, 20, 60}) {
    EXPECT_LE(share_found(launches, 0), 0.015) << launches;  // 2000 runs scatter by 0.002
  }
}

TEST(Drift, TwoPercentPerLaunch_IsFoundInTen) { EXPECT_GE(share_found(10, 0.02), 0.9); }

TEST(Drift, HalfAPercentPerLaunch_IsFoundInTwenty) { EXPECT_GE(share_found(20, 0.005), 0.6); }

TEST(Drift, IsToldWithItsSizeAndDirection) {
  const std::vector<double> rising{1.00, 1.01, 1.02, 1.03, 1.04, 1.05};
  ASSERT_TRUE(find_drift(rising));
  EXPECT_NEAR(find_drift(rising)->change, 0.05, 1e-3);
  EXPECT_NEAR(find_drift(rising)->p, 2.0 / 720, 1e-12);
  const std::vector<double> falling(rising.rbegin(), rising.rend());
  EXPECT_LT(find_drift(falling)->change, -0.04);
}

TEST(Drift, TooSmallOrTooFew_IsNone) {
  EXPECT_FALSE(find_drift(std::vector{1.0, 1.001, 1.002, 1.003, 1.004, 1.005}));
  EXPECT_FALSE(find_drift(std::vector{1.0, 1.1, 1.2, 1.3, 1.4}));
  EXPECT_FALSE(find_drift(std::vector{1.0}));
  EXPECT_FALSE(find_drift(std::vector<double>(10, 1.0)));
}

}  // namespace
}  // namespace tandem::stats
