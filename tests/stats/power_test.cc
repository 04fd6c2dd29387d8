// SPDX-License-Identifier: Apache-2.0
#include "common/stats/power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/base/error.h"
#include "common/stats/rounds.h"
#include "tests/stats/simulated.h"

namespace tandem::stats {
namespace {

constexpr double kScatter = 0.02;

// How often rounds of two cells tell that one is slower by `ratio`.
double told(int rounds, double ratio, double confidence) {
  constexpr int kRuns = 4000;
  Simulated random(3);
  int told = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> slower = random.launches(rounds, kScatter / std::sqrt(2));
    const std::vector<double> other = random.launches(rounds, kScatter / std::sqrt(2));
    for (double& launch : slower) launch *= ratio;
    told += ratio_in_rounds(slower, other, confidence).interval->low > 1 ? 1 : 0;
  }
  return static_cast<double>(told) / kRuns;
}

TEST(Power, IsHowOftenRoundsTellADifference) {
  for (const int rounds : {4, 6, 8, 10, 14, 20}) {
    for (const double confidence : {0.95, 0.99}) {
      for (const double ratio : {1.015, 1.03, 1.05}) {
        const double foretold = power_of({kScatter, rounds, confidence}, ratio);
        EXPECT_NEAR(foretold, told(rounds, ratio, confidence), 0.045)
            << rounds << " rounds, " << confidence << ", " << ratio;
      }
    }
  }
}

TEST(Power, ASlowerAndAFasterCellAreToldAlike) {
  EXPECT_NEAR(power_of({kScatter, 6}, 1.03), power_of({kScatter, 6}, 1 / 1.03), 1e-12);
}

TEST(Power, LeastRatio_IsToldInFourOfFive_AndItsRoundsAreTheFewest) {
  const RoundsAhead ahead{.scatter = kScatter, .rounds = 9};
  const double least = least_ratio_told(ahead);
  EXPECT_NEAR(power_of(ahead, least), kPower, 1e-9);
  EXPECT_EQ(rounds_to_tell(least * 1.0001, kScatter, kConfidence), 9);
  EXPECT_EQ(rounds_to_tell(least * 0.9999, kScatter, kConfidence), 10);
}

// Ten rounds are planned where launches scatter by 1.5 %: they tell 3 %.
TEST(Power, TenRoundsOfQuietLaunches_TellThreePercent) {
  EXPECT_GT(power_of({0.015 * std::sqrt(2), 10}, 1.03), 0.8);
}

TEST(Power, OfLaunchesThatScatterWildly_NoNumberOfRoundsTells) {
  EXPECT_EQ(rounds_to_tell(1.001, 1, kConfidence), std::nullopt);
}

TEST(Power, OfLaunchesThatDoNotScatter_IsCertain) {
  EXPECT_EQ(power_of({0, 3}, 1.001), 1);
  EXPECT_EQ(power_of({0, 3}, 1), 0);
  EXPECT_EQ(rounds_to_tell(1.001, 0, kConfidence), 2);
}

TEST(Scatter, IsReadFromTheInterval) {
  const std::vector<double> a{1.0, 1.02, 0.98, 1.01};
  const std::vector<double> b{1.0, 1.0, 1.0, 1.0};
  const double expected =
      std::sqrt((std::pow(std::log(1.02), 2) + std::pow(std::log(0.98), 2) +
                 std::pow(std::log(1.01), 2) - std::pow(std::log(1.02 * 0.98 * 1.01), 2) / 4) /
                3);
  EXPECT_NEAR(*scatter_of(ratio_in_rounds(a, b, 0.99), 0.99), expected, 1e-12);
  EXPECT_EQ(scatter_of({.center = 1, .interval = {}, .launches = 1}, 0.95), std::nullopt);
}

TEST(Scatter, BelowTwoRoundsThereIsNoPower) { EXPECT_THROW((void)power_of({0.1, 1}, 1.1), Error); }

}  // namespace
}  // namespace tandem::stats
