// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace tandem::stats {

// Twice the rank of each value among all, from 2; equal values share the mean of their ranks, and
// twice that is a whole number.
[[nodiscard]] std::vector<int> doubled_ranks(std::span<const double> values);

// How many of the ways to choose `chosen` of the ranks have a sum of s, at index s, for every s up
// to the sum of all. Exact while the number of ways is below 2^53, which holds for 50 ranks.
[[nodiscard]] std::vector<double> rank_sum_counts(std::span<const int> ranks, int chosen);

inline constexpr int kMostForExactRanks = 50;

}  // namespace tandem::stats
