// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/timing.h"

#include <gtest/gtest.h>

namespace tandem::test {
namespace {

using bench::LessonVerdict;

stats::Estimate estimate(double low, double high) {
  return {.center = (low + high) / 2, .interval = stats::Interval{low, high}, .launches = 20};
}

TEST(LessonTimingTest, Above_DecidesOnlyWhereTheIntervalIsOnOneSideOfTheBar) {
  EXPECT_EQ(bench::above(estimate(1.2, 1.4), 1.05), LessonVerdict::kHolds);
  EXPECT_EQ(bench::above(estimate(0.9, 1.0), 1.05), LessonVerdict::kDoesNotHold);
  EXPECT_EQ(bench::above(estimate(1.0, 1.1), 1.05), LessonVerdict::kNotDecidable);
  EXPECT_EQ(bench::above({.center = 2, .interval = {}, .launches = 3}, 1),
            LessonVerdict::kNotDecidable);
}

TEST(LessonTimingTest, Unresolved_SaysAgainstWhat) {
  EXPECT_EQ(bench::unresolved_note(LessonVerdict::kNotDecidable, 1.05),
            ", not resolved against 1.05");
  EXPECT_EQ(bench::unresolved_note(LessonVerdict::kHolds, 1.05), "");
}

TEST(LessonTimingTest, Ratio_IsShownWithItsInterval) {
  EXPECT_EQ(bench::text_of(estimate(1, 2)), "1.50 [1.00 .. 2.00]");
  EXPECT_EQ(bench::text_of({.center = 2, .interval = {}, .launches = 3}), "2.00 [no interval]");
}

TEST(LessonTimingTest, Interleave_TurnsTheOrderRoundEveryOtherTime) {
  std::string order;
  const auto way = [&order](char name, double seconds) {
    return [&order, name, seconds] {
      order += name;
      return Seconds(seconds);
    };
  };
  const auto seconds = bench::interleave({way('a', 1), way('b', 2)}, 4);
  EXPECT_EQ(seconds[0], std::vector<double>(4, 1));
  EXPECT_EQ(seconds[1], std::vector<double>(4, 2));
  EXPECT_EQ(order.substr(order.size() - 8), "abbaabba");
}

}  // namespace
}  // namespace tandem::test
