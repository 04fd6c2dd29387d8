// SPDX-License-Identifier: Apache-2.0
//
// The change of cells between two runs, before and after, with one false-alarm rate for all cells
// together. By Bonferroni each of m cells has an interval of confidence 1 - 0.05 / m, so that with
// 95 % all intervals hold the truth at once, and then every verdict of the rule below is right.
// (Holm's steps would resolve a few more cells, but have no intervals.)
#pragma once

#include <cstddef>
#include <string_view>

#include "common/stats/estimate.h"

namespace tandem::stats {

enum class Change { kFaster, kSlower, kSame, kUnsure };

// The change's name: "FASTER", "SLOWER", "SAME", "UNSURE".
[[nodiscard]] std::string_view to_string(Change change);

// The confidence of each interval where `comparisons` intervals, at least one, hold together at 95
// %.
[[nodiscard]] double confidence_of_each(std::size_t comparisons);

// Judges a change by the interval [low, high] of the time after / before, and by a threshold (0.03:
// 3 %, not below 0) under which a change does not matter:
//   SAME    1 / (1 + threshold) <= low and high <= 1 + threshold
//   SLOWER  not SAME, and low > 1: slower, possibly by more than the threshold
//   FASTER  not SAME, and high < 1
//   UNSURE  all other intervals, and a missing one
[[nodiscard]] Change judge_change(const Estimate& time_ratio, double threshold);

// Whether the whole interval lies beyond the threshold, on the side of the change.
[[nodiscard]] bool is_beyond(const Estimate& time_ratio, double threshold);

}  // namespace tandem::stats
