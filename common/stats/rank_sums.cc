// SPDX-License-Identifier: Apache-2.0
#include "common/stats/rank_sums.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "common/base/error.h"

namespace tandem::stats {

std::vector<int> doubled_ranks(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> ranks;
  for (const double value : values) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    // The values have the ranks first + 1 to last, whose mean, doubled, is first + last + 1.
    ranks.push_back(static_cast<int>((first - sorted.begin()) + (last - sorted.begin()) + 1));
  }
  return ranks;
}

std::vector<double> rank_sum_counts(std::span<const int> ranks, int chosen) {
  TANDEM_CHECK(chosen >= 0 && chosen <= static_cast<int>(ranks.size()), "{} of {} ranks", chosen,
               ranks.size());
  const auto total = static_cast<std::size_t>(std::accumulate(ranks.begin(), ranks.end(), 0));
  // ways[k][s] is the number of ways to choose k of the ranks seen so far with a sum of s.
  std::vector<std::vector<double>> ways(static_cast<std::size_t>(chosen) + 1,
                                        std::vector<double>(total + 1, 0));
  ways[0][0] = 1;
  for (const int rank : ranks) {
    const auto step = static_cast<std::size_t>(rank);
    // k runs downwards, so that no rank is taken twice.
    for (std::size_t k = ways.size() - 1; k > 0; --k) {
      for (std::size_t s = total; s >= step; --s) ways[k][s] += ways[k - 1][s - step];
    }
  }
  return ways.back();
}

}  // namespace tandem::stats
