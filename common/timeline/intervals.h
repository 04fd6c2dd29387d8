// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/base/clock.h"

namespace tandem::timeline {

// From `begin` on, up to but without `end`.
struct Interval {
  Nanoseconds begin{0};
  Nanoseconds end{0};

  bool operator==(const Interval&) const = default;
};

// A set of points in time: intervals in order, none empty, none touching the next.
using Intervals = std::vector<Interval>;

// Of intervals in any order that may overlap; empty ones count for nothing.
[[nodiscard]] Intervals union_of(std::vector<Interval> intervals);

[[nodiscard]] Intervals intersection(const Intervals& a, const Intervals& b);

// What of `a` is not in `b`.
[[nodiscard]] Intervals without(const Intervals& a, const Intervals& b);

[[nodiscard]] Nanoseconds length(const Intervals& intervals);

}  // namespace tandem::timeline
