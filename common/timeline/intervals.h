// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/base/clock.h"

namespace tandem::timeline {

// The half-open interval [begin, end).
struct Interval {
  Nanoseconds begin{0};
  Nanoseconds end{0};

  bool operator==(const Interval&) const = default;
};

// A set of points in time: intervals in order, none empty, none touching the next.
using Intervals = std::vector<Interval>;

// The union of intervals in any order, which may overlap or be empty.
[[nodiscard]] Intervals union_of(std::vector<Interval> intervals);

[[nodiscard]] Intervals intersection(const Intervals& a, const Intervals& b);

// The part of `a` that is not in `b`.
[[nodiscard]] Intervals without(const Intervals& a, const Intervals& b);

[[nodiscard]] Nanoseconds length(const Intervals& intervals);

}  // namespace tandem::timeline
