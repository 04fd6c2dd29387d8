// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace tandem::stats {

// Twice the rank of each value among all values, from 2. Equal values share the mean of their
// ranks, and twice that mean is a whole number.
[[nodiscard]] std::vector<int> doubled_ranks(std::span<const double> values);

// The number of ways to choose `chosen` of the ranks with a sum of s, at index s, for every s up to
// the sum of all ranks. Exact while the number of ways is below 2^53, which holds for 50 ranks.
[[nodiscard]] std::vector<double> rank_sum_counts(std::span<const int> ranks, int chosen);

inline constexpr int kMostForExactRanks = 50;

}  // namespace tandem::stats
