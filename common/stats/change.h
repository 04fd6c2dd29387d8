// SPDX-License-Identifier: Apache-2.0
//
// The change of cells between two runs, before and after, with one false-alarm rate for all cells
// together. By Bonferroni each of m cells has an interval of confidence 1 - 0.05 / m, so that with
// 95 % all intervals hold the truth at once, and then every verdict of the rule below is right.
// (Holm's steps would resolve a few more cells, but have no intervals.)
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/stats/estimate.h"

namespace tandem::stats {

// Twice the rank of each value among all values, from 2. Equal values share the mean of their
// ranks, and twice that mean is a whole number.
[[nodiscard]] std::vector<int> doubled_ranks(std::span<const double> values);

// The number of ways to choose `chosen` of the ranks with a sum of s, at index s, for every s up to
// the sum of all ranks. Exact while the number of ways is below 2^53, which holds for 50 ranks.
[[nodiscard]] std::vector<double> rank_sum_counts(std::span<const int> ranks, int chosen);

inline constexpr int kMostForExactRanks = 50;

// Whether one of two samples tends to lie above the other (Mann and Whitney, Annals of Mathematical
// Statistics 18, 1947). The test uses ranks alone, so that no outlier counts for more than one
// value.
struct MannWhitney {
  double u = 0;  // pairs in which a is above b; equal pairs count half
  double p = 1;  // two-sided: twice the smaller tail, 1 at most
};

// For up to 50 values in all, the tails are exact, ties included: the test counts all ways in which
// these values may fall to the two samples. Above 50 values, the test is the normal approximation
// with its corrections for ties and continuity.
[[nodiscard]] MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b);

// Hodges and Lehmann's estimate of the ratio numerator / denominator: exp of the median of all
// differences of their logs. The interval inverts the test above for samples without ties: from the
// (k + 1)-th of these differences to the (k + 1)-th from the end, k the largest with P(U <= k) <=
// 0.025 (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, section 4.3). There is no
// interval where even k = 0 is too likely, as with three launches each.
[[nodiscard]] Estimate hodges_lehmann_ratio(std::span<const double> numerator,
                                            std::span<const double> denominator);

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
