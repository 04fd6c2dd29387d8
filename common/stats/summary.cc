// SPDX-License-Identifier: Apache-2.0
#include "common/stats/summary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/base/error.h"

namespace tandem::stats {

namespace {

void check_not_empty(std::span<const double> values) {
  TANDEM_CHECK(!values.empty(), "an empty sample has no summary");
}

}  // namespace

double mean(std::span<const double> values) {
  check_not_empty(values);
  double sum = 0;
  double lost = 0;
  for (const double value : values) {
    const double next = sum + value;
    lost += std::abs(sum) >= std::abs(value) ? (sum - next) + value : (value - next) + sum;
    sum = next;
  }
  return (sum + lost) / static_cast<double>(values.size());
}

double median(std::span<const double> values) {
  check_not_empty(values);
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  return sorted[middle - 1] + (sorted[middle] - sorted[middle - 1]) / 2;
}

double percentile(std::span<const double> values, double percent) {
  check_not_empty(values);
  TANDEM_CHECK(percent > 0 && percent <= 100, "percentile {}", percent);
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  // The product comes first: 95 % of 20 is exactly 19, whereas 0.95 is no binary fraction.
  const double rank = std::ceil(percent * static_cast<double>(sorted.size()) / 100);
  return sorted[static_cast<std::size_t>(rank) - 1];
}

std::optional<double> percentile_99(std::span<const double> values) {
  constexpr std::size_t kFewest = 1000;
  if (values.size() < kFewest) return std::nullopt;
  return percentile(values, 99);
}

double minimum(std::span<const double> values) {
  check_not_empty(values);
  return *std::ranges::min_element(values);
}

double maximum(std::span<const double> values) {
  check_not_empty(values);
  return *std::ranges::max_element(values);
}

double sample_variance(std::span<const double> values) {
  TANDEM_CHECK(values.size() >= 2, "a variance needs two values, there is {}", values.size());
  const double center = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - center) * (value - center);
  return sum / static_cast<double>(values.size() - 1);
}

std::vector<double> logs(std::span<const double> values) {
  std::vector<double> result;
  result.reserve(values.size());
  for (const double value : values) {
    TANDEM_CHECK(value > 0 && std::isfinite(value), "a time is {}", value);
    result.push_back(std::log(value));
  }
  return result;
}

Estimate exponential(const Estimate& on_logs) {
  Estimate result = on_logs;
  result.center = std::exp(on_logs.center);
  if (on_logs.interval) {
    result.interval = Interval{std::exp(on_logs.interval->low), std::exp(on_logs.interval->high)};
  }
  return result;
}

}  // namespace tandem::stats
