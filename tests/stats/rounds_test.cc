// SPDX-License-Identifier: Apache-2.0
#include "common/stats/rounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "common/base/error.h"
#include "common/stats/comparison.h"
#include "common/stats/distributions.h"

namespace tandem::stats {
namespace {

using Values = std::vector<double>;

// Student's t with one degree of freedom is Cauchy's distribution, whose quantile is a tangent.
// Ratios e^0 and e^1: mean 1/2, standard deviation sqrt(1/2), over sqrt(2) rounds 1/2.
TEST(Rounds, TwoRounds_HaveTheIntervalOfCauchysQuantile) {
  const Estimate ratio = ratio_in_rounds(Values{3, 5 * std::exp(1.0)}, Values{3, 5}, 0.9);
  EXPECT_NEAR(std::log(ratio.center), 0.5, 1e-12);
  ASSERT_TRUE(ratio.interval);
  const double half = 0.5 * std::tan(0.45 * std::numbers::pi);
  EXPECT_NEAR(std::log(ratio.interval->low), 0.5 - half, 1e-9);
  EXPECT_NEAR(std::log(ratio.interval->high), 0.5 + half, 1e-9);
  EXPECT_EQ(ratio.launches, 2);
}

// With two degrees of freedom the quantile of confidence c is c sqrt(2 / (1 - c^2)). Logs of the
// ratios -1, 0, 1 have the standard deviation 1.
TEST(Rounds, ThreeRounds_HaveTheClosedQuantileOfTwoDegrees) {
  const Estimate ratio =
      ratio_in_rounds(Values{std::exp(-1.0), 7, std::exp(1.0)}, Values{1, 7, 1}, 0.95);
  EXPECT_NEAR(ratio.center, 1, 1e-12);
  ASSERT_TRUE(ratio.interval);
  const double half = 0.95 * std::sqrt(2 / (1 - 0.95 * 0.95)) / std::sqrt(3);
  EXPECT_NEAR(std::log(ratio.interval->high), half, 1e-9);
}

// A machine that becomes half as fast hits both sides of a round.
TEST(Rounds, WhatTheMachineDoes_Cancels) {
  Values before;
  Values after;
  for (int round = 0; round < 8; ++round) {
    before.push_back(1 + round / 8.0);
    after.push_back(before.back() * (round % 2 == 0 ? 1.099 : 1.101));
  }
  const Estimate paired = ratio_in_rounds(after, before, 0.95);
  ASSERT_TRUE(paired.interval);
  EXPECT_NEAR(paired.center, 1.1, 1e-5);
  EXPECT_GT(paired.interval->low, 1.098);
  EXPECT_LT(ratio_by_t(after, before, 0.95).interval->low, 1);
}

TEST(Rounds, OneRound_HasNoInterval) {
  const Estimate ratio = ratio_in_rounds(Values{3}, Values{2}, 0.95);
  EXPECT_DOUBLE_EQ(ratio.center, 1.5);
  EXPECT_FALSE(ratio.interval);
}

TEST(Rounds, WithoutRounds_OrWithoutAPartner_IsALogicError) {
  EXPECT_THROW((void)ratio_in_rounds({}, {}, 0.95), Error);
  EXPECT_THROW((void)ratio_in_rounds(Values{1}, Values{1, 2}, 0.95), Error);
}

}  // namespace
}  // namespace tandem::stats
