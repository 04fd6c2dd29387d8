// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/timeline/step_view.h"

namespace tandem::timeline {
namespace {

TimeRange at(int begin, int end) { return {Nanoseconds{begin}, Nanoseconds{end}}; }

TEST(TimeRanges, Union_JoinsWhatOverlapsOrTouches_InAnyOrder) {
  EXPECT_EQ(union_of({at(7, 9), at(0, 2), at(1, 4), at(4, 5), at(6, 6)}),
            (TimeRanges{at(0, 5), at(7, 9)}));
  EXPECT_EQ(union_of({at(0, 9), at(2, 3)}), (TimeRanges{at(0, 9)}));
  EXPECT_TRUE(union_of({}).empty());
}

TEST(TimeRanges, Intersection_IsWhatBothHold) {
  EXPECT_EQ(intersection({at(0, 4), at(6, 10)}, {at(2, 7), at(8, 9), at(10, 12)}),
            (TimeRanges{at(2, 4), at(6, 7), at(8, 9)}));
  EXPECT_TRUE(intersection({at(0, 4)}, {at(4, 8)}).empty());
}

TEST(TimeRanges, Without_LeavesWhatTheOtherDoesNotHold) {
  EXPECT_EQ(without({at(0, 10)}, {at(2, 3), at(5, 7)}),
            (TimeRanges{at(0, 2), at(3, 5), at(7, 10)}));
  EXPECT_EQ(without({at(0, 4), at(6, 9)}, {at(3, 7)}), (TimeRanges{at(0, 3), at(7, 9)}));
  EXPECT_TRUE(without({at(1, 4)}, {at(0, 5)}).empty());
  EXPECT_EQ(without({at(1, 4)}, {}), (TimeRanges{at(1, 4)}));
}

// Each nanosecond counted by itself, over many sets.
TEST(TimeRanges, AgreeWithSetsOfPoints) {
  constexpr int kEnd = 12;
  const auto holds = [](const TimeRanges& all, int point) {
    for (const TimeRange& one : all) {
      if (one.begin.count() <= point && point < one.end.count()) return true;
    }
    return false;
  };
  const auto set_of = [](unsigned bits) {
    std::vector<TimeRange> points;
    for (int i = 0; i < kEnd; ++i) {
      if ((bits >> i & 1U) != 0) points.push_back(at(i, i + 1));
    }
    return union_of(points);
  };
  for (unsigned first = 0; first < 1U << kEnd; first += 37) {
    for (unsigned second = 0; second < 1U << kEnd; second += 41) {
      const TimeRanges a = set_of(first);
      const TimeRanges b = set_of(second);
      const TimeRanges both = intersection(a, b);
      const TimeRanges left = without(a, b);
      for (int i = 0; i < kEnd; ++i) {
        ASSERT_EQ(holds(both, i), holds(a, i) && holds(b, i));
        ASSERT_EQ(holds(left, i), holds(a, i) && !holds(b, i));
      }
      ASSERT_EQ(length(both) + length(left), length(a));
    }
  }
}

}  // namespace
}  // namespace tandem::timeline
