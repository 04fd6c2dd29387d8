// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "common/base/error.h"
#include "common/stats/change.h"
#include "tests/stats/simulated.h"

namespace tandem::stats {
namespace {

TEST(RankSums, EqualValues_ShareTheMeanOfTheirRanks) {
  EXPECT_EQ(doubled_ranks(std::vector{3.0, 1.0, 3.0, 2.0}), (std::vector{7, 2, 7, 4}));
}

TEST(RankSums, Counts_AreAllWays) {
  // Two of 1, 2, 3, 4 are chosen: sums 3, 4, 5 (twice), 6, 7.
  const std::vector<double> counts = rank_sum_counts(std::vector{1, 2, 3, 4}, 2);
  EXPECT_EQ(counts, (std::vector<double>{0, 0, 0, 1, 1, 2, 1, 1, 0, 0, 0}));
}

TEST(MannWhitney, BothWaysRound_TheSameP) {
  const std::vector a{1.0, 2.0, 2.0, 5.0};
  const std::vector b{2.0, 3.0, 7.0};
  EXPECT_DOUBLE_EQ(mann_whitney(a, b).p, mann_whitney(b, a).p);
  EXPECT_DOUBLE_EQ(mann_whitney(a, b).u + mann_whitney(b, a).u, 12);
}

TEST(MannWhitney, ValuesThatAreAllEqual_TellNothing) {
  EXPECT_DOUBLE_EQ(mann_whitney(std::vector{1.0, 1.0}, std::vector{1.0, 1.0, 1.0}).p, 1);
  const std::vector<double> many(40, 1.0);
  EXPECT_DOUBLE_EQ(mann_whitney(many, many).p, 1);
  EXPECT_THROW((void)mann_whitney(many, {}), Error);
}

// Where exact counting ends the approximation goes on smoothly.
TEST(MannWhitney, FiftyAndFiftyTwoValues_HaveNearlyTheSameP) {
  std::vector<double> a(25);
  std::iota(a.begin(), a.end(), 3.5);
  std::vector<double> b(25);
  std::iota(b.begin(), b.end(), 0.0);
  const double exact = mann_whitney(a, b).p;
  a.push_back(28.5);
  b.push_back(25);
  EXPECT_NEAR(mann_whitney(a, b).p, exact, 0.1 * exact);
}

TEST(HodgesLehmann, OneWildLaunch_MovesLittle) {
  Simulated simulated(1);
  std::vector<double> a = simulated.launches(10, 0.01, 0.011);
  const std::vector<double> b = simulated.launches(10, 0.01, 0.010);
  const Estimate before = hodges_lehmann_ratio(a, b);
  a[4] *= 50;
  const Estimate after = hodges_lehmann_ratio(a, b);
  EXPECT_NEAR(after.center, before.center, 0.005);
  EXPECT_LT(after.interval->high, 1.13);
}

TEST(HodgesLehmann, ManyLaunches_HaveANarrowInterval) {
  Simulated simulated(2);
  const Estimate ratio = hodges_lehmann_ratio(simulated.launches(40, 0.01, 0.011),
                                              simulated.launches(40, 0.01, 0.010));
  EXPECT_TRUE(ratio.interval->holds(1.1));
  EXPECT_LT(ratio.interval->high / ratio.interval->low, 1.02);
}

}  // namespace
}  // namespace tandem::stats
