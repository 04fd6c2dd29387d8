// SPDX-License-Identifier: Apache-2.0
#include "common/stats/rounds.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/stats/comparison.h"
#include "common/stats/estimate.h"

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
  EXPECT_THROW((void)ratio_in_rounds(Values{}, Values{}, 0.95), Error);
  EXPECT_THROW((void)ratio_in_rounds(Values{1}, Values{1, 2}, 0.95), Error);
}

// Of -50, 1, 2, .. 6, 100 six are left; the ends take the places of 1 and 6, and the squares of
// what the eight are away from 3.5 sum to 30.
TEST(Rounds, EightValues_LoseOneAtEitherEnd) {
  const Estimate found = trimmed_mean(Values{100, 1, 2, 3, 4, 5, 6, -50}, 0.95);
  EXPECT_DOUBLE_EQ(found.center, 3.5);
  const double error = std::sqrt(30.0 / (6 * 5));
  EXPECT_NEAR(found.interval->high - 3.5, (1 + 0.4 / 6) * student_t_critical(0.95, 5) * error,
              1e-9);
  EXPECT_EQ(found.launches, 8);
}

TEST(Rounds, OneOfSix_IsTrimmed_FromEightOn) {
  for (const auto& [n, trimmed] : {std::pair{2, 0}, {7, 0}, {8, 1}, {11, 1}, {12, 2}, {18, 3}}) {
    EXPECT_EQ(trimmed_at_each_end(n), trimmed) << n;
  }
}

// A cell's launch of round 3 was disturbed and replaced in round 7.
TEST(Rounds, LaunchesInPlaceOfOthers_FollowTheCommonRounds) {
  const Values a{10, 11, 12, 17};
  const std::vector<int> of_a{0, 1, 2, 7};
  const Values b{20, 22, 21, 23, 24};
  const std::vector<int> of_b{0, 2, 1, 3, 4};
  const auto lists = side_by_side(std::vector<InRounds>{{a, of_a}, {b, of_b}});
  EXPECT_EQ(lists[0], (Values{10, 11, 12, 17}));
  EXPECT_EQ(lists[1], (Values{20, 21, 22, 23}));
}

TEST(Rounds, SumsOfMeans_AddUp_AndDoNotScatterWithTheMachine) {
  const Values a{10, 20, 30.5};
  const Values b{9, 19, 29};
  const std::vector<int> rounds{0, 1, 2};
  const Estimate sum = sum_in_rounds(std::vector<RoundTerm>{{1, {a, rounds}}, {-1, {b, rounds}}});
  EXPECT_NEAR(sum.center, 3.5 / 3, 1e-12);
  EXPECT_LT(sum.interval->high - sum.interval->low, 1.5);
  const std::vector<Term> apart{{1, a}, {-1, b}};
  EXPECT_NEAR(weighted_sum(apart).center, sum.center, 1e-12);
  EXPECT_GT(weighted_sum(apart).interval->high, 20);
}

TEST(Rounds, SumsOfUnevenCells_TakeThemApart) {
  const Values a{10, 20, 60};
  const Values b{9, 19};
  const std::vector<int> of_a{0, 1, 2};
  const std::vector<int> of_b{0, 1};
  const Estimate sum = sum_in_rounds(std::vector<RoundTerm>{{1, {a, of_a}}, {-1, {b, of_b}}});
  const Estimate apart = weighted_sum(std::array{Term{1, a}, Term{-1, b}});
  EXPECT_DOUBLE_EQ(sum.center, 30 - 14);
  EXPECT_DOUBLE_EQ(sum.interval->high, apart.interval->high);
}

}  // namespace
}  // namespace tandem::stats
