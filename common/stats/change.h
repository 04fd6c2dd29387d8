// SPDX-License-Identifier: Apache-2.0
//
// Two runs of the same cells, before and after: what has changed, with one false-alarm rate for all
// cells together. Bonferroni: with m cells each interval has a confidence of 1 - 0.05 / m, so that
// with 95 % all of them hold the truth at once; whatever is read from them by the rule below is
// then right throughout. (Holm's steps would resolve a few more cells, but have no intervals.)
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "common/stats/estimate.h"

namespace tandem::stats {

enum class Change { kFaster, kSlower, kSame, kUnsure };

// "FASTER", "SLOWER", "SAME", "UNSURE".
[[nodiscard]] std::string_view to_string(Change change);

// Of each interval where so many are to hold together at 95 %. Needs one.
[[nodiscard]] double confidence_of_each(std::size_t comparisons);

// By the interval [low, high] of the time after / before, and a threshold (0.03: 3 %, not below 0)
// under which a change does not matter:
//   SAME    1 / (1 + threshold) <= low and high <= 1 + threshold
//   SLOWER  not that, and low > 1: it is slower, and by more than the threshold cannot be ruled out
//   FASTER  not that, and high < 1
//   UNSURE  else, and without an interval
[[nodiscard]] Change judge_change(const Estimate& time_ratio, double threshold);

// Whether the whole interval lies beyond the threshold, to the side of the change.
[[nodiscard]] bool is_beyond(const Estimate& time_ratio, double threshold);

}  // namespace tandem::stats
