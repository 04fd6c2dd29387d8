// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "common/base/error.h"
#include "common/stats/comparison.h"
#include "common/stats/estimate.h"

namespace tandem::stats {
namespace {

TEST(Paired, MedianOfRatios_IsNotMovedByOneSlowStep) {
  const std::vector<double> a(21, 2.0);
  std::vector<double> b(21, 3.0);
  b[4] = 500;
  const Estimate ratio = median_of_paired_ratios(a, b);
  EXPECT_DOUBLE_EQ(ratio.center, 1.5);
  ASSERT_TRUE(ratio.interval);
  EXPECT_DOUBLE_EQ(ratio.interval->high, 1.5);
  EXPECT_EQ(ratio.launches, 21);
}

TEST(Paired, MedianOfRatios_OfFewPairs_HasNoInterval) {
  EXPECT_FALSE(median_of_paired_ratios(std::vector{1.0}, std::vector{1.0}).interval);
}

// A place that costs 2 % goes against one side in one set and against the other in the next.
TEST(Paired, RatioOfSets_CancelsWhatAPlaceCosts) {
  const PairedTimes a_suffers{.a = {1.02, 1.02, 1.02}, .b = {1, 1, 1}};
  const PairedTimes b_suffers{.a = {1, 1, 1}, .b = {1.02, 1.02, 1.02}};
  const Estimate ratio =
      ratio_of_paired_sets(std::vector{a_suffers, b_suffers, a_suffers, b_suffers});
  EXPECT_NEAR(ratio.center, 1, 1e-12);
  ASSERT_TRUE(ratio.interval);
  EXPECT_NEAR(ratio.interval->low, 1, 1e-12);
  EXPECT_EQ(ratio.launches, 2);
}

// Units of ratio e^0 and e^1: mean 0.5, standard deviation sqrt(0.5), over sqrt(2) units.
TEST(Paired, RatioOfSets_HasTheIntervalOfItsUnits) {
  const PairedTimes one{.a = {1}, .b = {1}};
  const PairedTimes e{.a = {1}, .b = {std::exp(1.0)}};
  const Estimate ratio = ratio_of_paired_sets(std::vector{one, one, e, e});
  EXPECT_NEAR(std::log(ratio.center), 0.5, 1e-12);
  ASSERT_TRUE(ratio.interval);
  EXPECT_NEAR(std::log(ratio.interval->high), 0.5 + student_t_critical(0.95, 1) * 0.5, 1e-9);
}

TEST(Paired, RatioOfSets_OfOneSet_HasNoInterval) {
  const Estimate ratio = ratio_of_paired_sets(std::vector{PairedTimes{.a = {2, 2}, .b = {1, 1}}});
  EXPECT_DOUBLE_EQ(ratio.center, 0.5);
  EXPECT_FALSE(ratio.interval);
}

TEST(Paired, NothingToCompare_IsALogicError) {
  EXPECT_THROW((void)ratio_of_paired_sets({}), Error);
  EXPECT_THROW((void)median_of_paired_ratios(std::vector{1.0}, std::vector{1.0, 2.0}), Error);
}

}  // namespace
}  // namespace tandem::stats
