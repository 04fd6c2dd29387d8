// SPDX-License-Identifier: Apache-2.0
#include "common/stats/mann_whitney.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

#include "common/base/error.h"
#include "common/stats/logs.h"
#include "common/stats/normal.h"
#include "common/stats/rank_sums.h"
#include "common/stats/summary.h"

namespace tandem::stats {
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
  std::sort(differences.begin(), differences.end());
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

}  // namespace tandem::stats
