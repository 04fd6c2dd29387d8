// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "common/stats/steadiness.h"
#include "tests/stats/simulated.h"

namespace tandem::stats {
namespace {

// The share of samples of `count` in which two modes are found; their logs are drawn by `draw`.
double share_found(int count, const std::function<double(Simulated&)>& draw) {
  constexpr int kRuns = 2000;
  Simulated simulated(8);
  int found = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> times;
    for (int i = 0; i < count; ++i) times.push_back(std::exp(draw(simulated)));
    found += find_modes(times, kLaunchesApart) ? 1 : 0;
  }
  return static_cast<double>(found) / kRuns;
}

constexpr int kCounts[] = {6, 10, 20, 100, 400};

TEST(Modes, OneModeOfAnyShape_IsFlaggedOnceInAHundred) {
  for (const int count : kCounts) {
    EXPECT_LE(share_found(count, [](Simulated& s) { return s.normal(); }), 0.01) << count;
    // The two that pass most easily; 2000 runs scatter by 0.2 %.
    EXPECT_LE(share_found(count, [](Simulated& s) { return s.uniform(); }), 0.018) << count;
    EXPECT_LE(share_found(count, [](Simulated& s) { return -std::log(s.uniform()); }), 0.018)
        << count;
  }
}

TEST(Modes, SomeWildValues_AreNoSecondMode) {
  for (const int count : kCounts) {
    const auto wild = [](Simulated& s) {
      return 0.01 * s.normal() + (s.uniform() < 0.03 ? 0.3 * s.uniform() : 0);
    };
    EXPECT_LE(share_found(count, wild), 0.02) << count;
  }
}

// The modes lie ten standard deviations apart, a fast launch in three.
TEST(Modes, TwoClearModes_AreFoundFromTenLaunchesOn) {
  const auto clear = [](Simulated& s) {
    return 0.01 * s.normal() + (s.uniform() < 1.0 / 3 ? 0 : 0.1);
  };
  EXPECT_GE(share_found(10, clear), 0.5);
  EXPECT_GE(share_found(20, clear), 0.95);
  EXPECT_GE(share_found(100, clear), 0.99);
}

TEST(Modes, AreToldWithTheirCentresAndCounts) {
  const std::vector<double> times{1.00, 1.21, 1.01, 1.20, 0.99, 1.00, 1.21, 1.01};
  const auto modes = find_modes(times, kLaunchesApart);
  ASSERT_TRUE(modes);
  EXPECT_NEAR(modes->low, 1.002, 1e-3);
  EXPECT_NEAR(modes->high, 1.2066, 1e-3);
  EXPECT_EQ(modes->low_count, 5);
  EXPECT_EQ(modes->high_count, 3);
}

TEST(Modes, TooCloseTooFewOrEqual_AreNone) {
  const std::vector<double> close{1.000, 1.010, 1.000, 1.010, 1.0001, 1.0101, 1.000, 1.010};
  EXPECT_FALSE(find_modes(close, kLaunchesApart));
  EXPECT_TRUE(find_modes(close, 0.005));
  EXPECT_FALSE(find_modes(std::vector{1.0, 2.0, 1.0, 2.0, 1.0}, kLaunchesApart));
  EXPECT_FALSE(find_modes(std::vector<double>(30, 1.0), kLaunchesApart));
}

TEST(Modes, BestSplit_HasAllVarianceOfTwoPoints) {
  const auto split = best_split(std::vector{1.0, 3.0, 1.0, 3.0}, 2);
  ASSERT_TRUE(split);
  EXPECT_DOUBLE_EQ(split->share, 1);
  EXPECT_DOUBLE_EQ(split->low, 1);
  EXPECT_DOUBLE_EQ(split->high, 3);
  EXPECT_FALSE(best_split(std::vector{1.0, 2.0, 3.0}, 2));
}

}  // namespace
}  // namespace tandem::stats
