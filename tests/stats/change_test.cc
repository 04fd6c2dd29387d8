// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/base/error.h"
#include "common/stats/comparison.h"

namespace tandem::stats {
namespace {

Estimate between(double low, double high) {
  return {.center = (low + high) / 2, .interval = Interval{low, high}, .launches = 6};
}

Change judged(double low, double high) { return judge_change(between(low, high), 0.03); }

TEST(Change, IntervalOnOneSideOfOne_IsAChange) {
  EXPECT_EQ(judged(1.001, 1.06), Change::kSlower);
  EXPECT_EQ(judged(1.04, 1.06), Change::kSlower);
  EXPECT_EQ(judged(0.94, 0.999), Change::kFaster);
}

TEST(Change, IntervalWithinTheThreshold_IsTheSame) {
  EXPECT_EQ(judged(0.98, 1.02), Change::kSame);
  EXPECT_EQ(judged(1 / 1.03, 1.03), Change::kSame);
  EXPECT_EQ(judged(1.005, 1.02), Change::kSame);  // slower, and by so little that it is no matter
  EXPECT_EQ(judged(0.98, 0.99), Change::kSame);
}

TEST(Change, IntervalThatExcludesASlowDownAlone_IsNotSlower) {
  EXPECT_EQ(judged(0.963, 1.021), Change::kNotSlower);
  EXPECT_EQ(judged(0.5, 1.03), Change::kNotSlower);
  EXPECT_EQ(judged(0.963, 1.031), Change::kUnsure);
}

TEST(Change, AllElse_IsUnsure) {
  EXPECT_EQ(judged(0.99, 1.04), Change::kUnsure);
  EXPECT_EQ(judged(1.0, 1.04), Change::kUnsure);
  EXPECT_EQ(judge_change({.center = 2, .interval = {}, .launches = 1}, 0.03), Change::kUnsure);
}

TEST(Change, WithoutAThreshold_AnyChangeCounts) {
  EXPECT_EQ(judge_change(between(1.001, 1.002), 0), Change::kSlower);
  EXPECT_EQ(judge_change(between(1, 1), 0), Change::kSame);
  EXPECT_THROW((void)judge_change(between(1, 1), -0.01), Error);
}

TEST(Change, Beyond_IsTheWholeIntervals) {
  EXPECT_TRUE(is_beyond(between(1.031, 1.05), 0.03));
  EXPECT_FALSE(is_beyond(between(1.02, 1.05), 0.03));
  EXPECT_TRUE(is_beyond(between(0.9, 0.97), 0.03));
  EXPECT_FALSE(is_beyond({.center = 2, .interval = {}, .launches = 1}, 0.03));
}

TEST(Change, Confidence_IsShared) {
  EXPECT_DOUBLE_EQ(confidence_of_each(1), 0.95);
  EXPECT_DOUBLE_EQ(confidence_of_each(10), 0.995);
  EXPECT_THROW((void)confidence_of_each(0), Error);
}

}  // namespace
}  // namespace tandem::stats
