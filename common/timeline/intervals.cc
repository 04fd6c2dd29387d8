// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/intervals.h"

#include <algorithm>

namespace tandem::timeline {

Intervals union_of(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& one) { return one.end <= one.begin; });
  std::ranges::sort(intervals, {}, &Interval::begin);
  Intervals all;
  for (const Interval& next : intervals) {
    if (all.empty() || next.begin > all.back().end) {
      all.push_back(next);
    } else {
      all.back().end = std::max(all.back().end, next.end);
    }
  }
  return all;
}

Intervals intersection(const Intervals& a, const Intervals& b) {
  Intervals common;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const Interval both{std::max(x->begin, y->begin), std::min(x->end, y->end)};
    if (both.begin < both.end) common.push_back(both);
    (x->end < y->end ? x : y)++;
  }
  return common;
}

Intervals without(const Intervals& a, const Intervals& b) {
  Intervals left;
  auto y = b.begin();
  for (Interval rest : a) {
    while (y != b.end() && y->end <= rest.begin) ++y;
    for (auto cut = y; cut != b.end() && cut->begin < rest.end; ++cut) {
      if (cut->begin > rest.begin) left.push_back({rest.begin, cut->begin});
      rest.begin = std::min(cut->end, rest.end);
    }
    if (rest.begin < rest.end) left.push_back(rest);
  }
  return left;
}

Nanoseconds length(const Intervals& intervals) {
  Nanoseconds sum{0};
  for (const Interval& one : intervals) sum += one.end - one.begin;
  return sum;
}

}  // namespace tandem::timeline
