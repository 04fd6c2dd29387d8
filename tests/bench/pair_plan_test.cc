// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/passes/pair_measurement.h"

namespace tandem::bench {
namespace {

int pairs_in(const std::vector<PairSet>& plan) {
  int pairs = 0;
  for (const PairSet& set : plan) pairs += set.pairs;
  return pairs;
}

TEST(PairPlan, EachSideIsFirstInHalfOfTheSets) {
  for (const int pairs : {10, 25, 30, 99, 200, 1000}) {
    const std::vector<PairSet> plan = plan_pairs(pairs);
    EXPECT_EQ(plan.size() % 2, 0U) << pairs;
    EXPECT_EQ(static_cast<std::size_t>(std::count_if(
                  plan.begin(), plan.end(), [](const PairSet& set) { return set.b_first; })),
              plan.size() / 2)
        << pairs;
    EXPECT_EQ(pairs_in(plan), pairs);
  }
}

TEST(PairPlan, TwoHundredPairsAreTwentySetsOfTen) {
  const std::vector<PairSet> plan = plan_pairs(200);
  ASSERT_EQ(plan.size(), 20U);
  for (const PairSet& set : plan) EXPECT_EQ(set.pairs, 10);
}

TEST(PairPlan, RemaindersGoToTheFirstSets) {
  const std::vector<PairSet> plan = plan_pairs(23);
  ASSERT_EQ(plan.size(), 4U);
  EXPECT_EQ(plan.front().pairs, 6);
  EXPECT_EQ(plan.back().pairs, 5);
}

TEST(PairPlan, FewPairsAreOneSet) {
  for (const int pairs : {1, 2, 9}) {
    const std::vector<PairSet> plan = plan_pairs(pairs);
    ASSERT_EQ(plan.size(), 1U);
    EXPECT_EQ(plan.front().pairs, pairs);
    EXPECT_FALSE(plan.front().b_first);
  }
}

}  // namespace
}  // namespace tandem::bench
