// SPDX-License-Identifier: Apache-2.0
#include "common/stats/change.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

#include "common/base/error.h"
#include "common/stats/distributions.h"
#include "common/stats/summary.h"

namespace tandem::stats {

std::vector<int> doubled_ranks(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
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

namespace {

bool is_exact(std::size_t n, std::size_t m) { return n + m <= kMostForExactRanks; }

// Twice the smaller tail of the sum of the first sample's doubled ranks.
double exact_p(const std::vector<int>& ranks, std::size_t n) {
  const std::vector<double> counts = rank_sum_counts(ranks, static_cast<int>(n));
  const auto own = static_cast<std::ptrdiff_t>(
      std::accumulate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(n), 0));
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double below = std::accumulate(counts.begin(), counts.begin() + own + 1, 0.0);
  const double above = std::accumulate(counts.begin() + own, counts.end(), 0.0);
  return std::min(1.0, 2 * std::min(below, above) / all);
}

// The sum of t^3 - t over groups of t equal values.
double tie_sum(const std::vector<int>& ranks) {
  std::map<int, double> groups;
  for (const int rank : ranks) ++groups[rank];
  double sum = 0;
  for (const auto& [rank, count] : groups) sum += count * count * count - count;
  return sum;
}

double normal_p(double u, double n, double m, const std::vector<int>& ranks) {
  const double all = n + m;
  const double variance = n * m / 12 * (all + 1 - tie_sum(ranks) / (all * (all - 1)));
  if (variance <= 0) return 1;  // 1 where all values are equal
  const double distance = std::max(0.0, std::abs(u - n * m / 2) - 0.5);
  return 2 * normal_cdf(-distance / std::sqrt(variance));
}

// The largest k with P(U <= k) <= tail; -1 where there is none.
int lower_rank(int n, int m, double tail) {
  const double pairs = static_cast<double>(n) * m;
  if (!is_exact(static_cast<std::size_t>(n), static_cast<std::size_t>(m))) {
    const double sigma = std::sqrt(pairs * (n + m + 1) / 12);
    return static_cast<int>(std::floor(pairs / 2 - 0.5 + normal_quantile(tail) * sigma));
  }
  std::vector<int> ranks(static_cast<std::size_t>(n + m));
  std::iota(ranks.begin(), ranks.end(), 1);
  const std::vector<double> counts = rank_sum_counts(ranks, n);
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const int least = n * (n + 1) / 2;  // rank sum at U = 0
  int k = -1;
  for (double sum = 0; k + 1 <= n * m; ++k) {
    sum += counts[static_cast<std::size_t>(least + k + 1)];
    if (sum / all > tail) break;
  }
  return k;
}

}  // namespace

MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b) {
  TANDEM_CHECK(!a.empty() && !b.empty(), "{} and {} values", a.size(), b.size());
  std::vector<double> values(a.begin(), a.end());
  values.insert(values.end(), b.begin(), b.end());
  const std::vector<int> ranks = doubled_ranks(values);
  double u = 0;
  for (const double x : a) {
    for (const double y : b) u += x > y ? 1 : x == y ? 0.5 : 0;
  }
  const double p = is_exact(a.size(), b.size()) ? exact_p(ranks, a.size())
                                                : normal_p(u, static_cast<double>(a.size()),
                                                           static_cast<double>(b.size()), ranks);
  return {.u = u, .p = p};
}

Estimate hodges_lehmann_ratio(std::span<const double> numerator,
                              std::span<const double> denominator) {
  const std::vector<double> top = logs(numerator);
  const std::vector<double> bottom = logs(denominator);
  std::vector<double> differences;
  for (const double x : top) {
    for (const double y : bottom) differences.push_back(x - y);
  }
  std::ranges::sort(differences);
  Estimate shift{.center = median(differences),
                 .interval = std::nullopt,
                 .launches = static_cast<int>(std::min(top.size(), bottom.size()))};
  const int k = lower_rank(static_cast<int>(top.size()), static_cast<int>(bottom.size()),
                           (1 - kConfidence) / 2);
  if (k >= 0) {
    const auto low = static_cast<std::size_t>(k);
    shift.interval = Interval{differences[low], differences[differences.size() - 1 - low]};
  }
  return exponential(shift);
}

std::string_view to_string(Change change) {
  constexpr std::array<std::string_view, 4> kNames{"FASTER", "SLOWER", "SAME", "UNSURE"};
  return kNames.at(static_cast<std::size_t>(change));
}

double confidence_of_each(std::size_t comparisons) {
  TANDEM_CHECK(comparisons > 0, "nothing is compared");
  return 1 - (1 - kConfidence) / static_cast<double>(comparisons);
}

Change judge_change(const Estimate& time_ratio, double threshold) {
  TANDEM_CHECK(threshold >= 0, "threshold {}", threshold);
  if (!time_ratio.interval) return Change::kUnsure;
  const auto [low, high] = *time_ratio.interval;
  if (low >= 1 / (1 + threshold) && high <= 1 + threshold) return Change::kSame;
  if (low > 1) return Change::kSlower;
  if (high < 1) return Change::kFaster;
  return Change::kUnsure;
}

bool is_beyond(const Estimate& time_ratio, double threshold) {
  if (!time_ratio.interval) return false;
  return time_ratio.interval->low > 1 + threshold ||
         time_ratio.interval->high < 1 / (1 + threshold);
}

}  // namespace tandem::stats
