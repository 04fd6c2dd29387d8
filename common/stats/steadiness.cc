// SPDX-License-Identifier: Apache-2.0
#include "common/stats/steadiness.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/base/error.h"
#include "common/stats/estimate.h"
#include "common/stats/summary.h"

namespace tandem::stats {

namespace {

constexpr std::size_t kMostForExact = 50;

int sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

// P(inversions = k) in a random order of n values: the i-th value is below 0 to i - 1 of the values
// before, each number being equally likely.
std::vector<double> inversion_shares(std::size_t n) {
  std::vector<double> shares{1};
  for (std::size_t i = 2; i <= n; ++i) {
    std::vector<double> next(shares.size() + i - 1, 0);
    for (std::size_t k = 0; k < shares.size(); ++k) {
      for (std::size_t own = 0; own < i; ++own) next[k + own] += shares[k] / static_cast<double>(i);
    }
    shares = std::move(next);
  }
  return shares;
}

// P(|S| >= |score|), S being the number of pairs that rise minus those that fall.
double exact_p(std::size_t n, int score) {
  const std::vector<double> shares = inversion_shares(n);
  const auto pairs = static_cast<int>(shares.size()) - 1;
  const int fewest = (pairs - std::abs(score)) / 2;  // fewest inversions in either tail
  double tail = 0;
  for (int k = 0; k <= fewest; ++k) tail += shares[static_cast<std::size_t>(k)];
  return std::min(1.0, 2 * tail);
}

double normal_p(double n, int score) {
  const double sigma = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  return 2 * normal_cdf(-std::abs(score) / sigma);
}

}  // namespace

Trend trend(std::span<const double> in_time_order) {
  const std::size_t n = in_time_order.size();
  TANDEM_CHECK(n >= 2, "{} values have no order", n);
  int score = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) score += sign(in_time_order[j] - in_time_order[i]);
  }
  const auto count = static_cast<double>(n);
  return {.tau = score / (count * (count - 1) / 2),
          .p = n <= kMostForExact ? exact_p(n, score) : normal_p(count, score)};
}

double median_slope(std::span<const double> in_time_order) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < in_time_order.size(); ++i) {
    for (std::size_t j = i + 1; j < in_time_order.size(); ++j) {
      slopes.push_back((in_time_order[j] - in_time_order[i]) / static_cast<double>(j - i));
    }
  }
  return median(slopes);
}

std::optional<Drift> find_drift(std::span<const double> medians_in_time_order) {
  if (medians_in_time_order.size() < 2) return std::nullopt;
  const std::vector<double> values = logs(medians_in_time_order);
  const double p = trend(values).p;
  if (p > kDriftLevel) return std::nullopt;
  const double change = median_slope(values) * static_cast<double>(values.size() - 1);
  if (std::abs(change) < kLeastDrift) return std::nullopt;
  return Drift{.change = std::expm1(change), .p = p};
}

}  // namespace tandem::stats
