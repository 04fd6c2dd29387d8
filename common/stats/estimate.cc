// SPDX-License-Identifier: Apache-2.0
#include "common/stats/estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "common/base/error.h"
#include "common/stats/distributions.h"
#include "common/stats/summary.h"

namespace tandem::stats {

Estimate center_of_means(std::span<const double> launch_means) {
  Estimate result{.center = mean(launch_means),
                  .interval = std::nullopt,
                  .launches = static_cast<int>(launch_means.size())};
  if (result.launches < 2) return result;
  const double n = result.launches;
  const double half =
      student_t_critical(kConfidence, n - 1) * std::sqrt(sample_variance(launch_means) / n);
  result.interval = Interval{result.center - half, result.center + half};
  return result;
}

Estimate center_of_medians(std::span<const double> launch_medians) {
  const std::vector<double> values = logs(launch_medians);
  Estimate result = center_of_means(values);
  if (result.launches >= kFewestForBootstrap) result.interval = bootstrap_mean(values);
  return exponential(result);
}

Estimate center_by_t(std::span<const double> values) {
  return exponential(center_of_means(logs(values)));
}

Estimate rate(double amount, const Estimate& time) {
  TANDEM_CHECK(amount > 0 && time.center > 0, "amount {}, time {}", amount, time.center);
  Estimate result{
      .center = amount / time.center, .interval = std::nullopt, .launches = time.launches};
  if (time.interval && time.interval->low > 0) {
    result.interval = Interval{amount / time.interval->high, amount / time.interval->low};
  }
  return result;
}

Estimate divided(const Estimate& estimate, double divisor) {
  TANDEM_CHECK(divisor > 0, "divided by {}", divisor);
  Estimate result = estimate;
  result.center /= divisor;
  if (result.interval) {
    result.interval = Interval{result.interval->low / divisor, result.interval->high / divisor};
  }
  return result;
}

namespace {

constexpr int kResamples = 5000;
constexpr unsigned long long kSeed = 20;
// The second sample's seed, independent of the first's.
constexpr unsigned long long kOtherSeed = 21;

// A place below `count`, from the upper half of a random number, since
// std::uniform_int_distribution differs between libraries. No place is preferred by more than count
// in 2^32.
std::size_t place(std::mt19937_64& random, std::size_t count) {
  return static_cast<std::size_t>(((random() >> 32U) * count) >> 32U);
}

// The quantile by linear interpolation; share 0 is the smallest value, 1 the largest.
double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

}  // namespace

std::vector<double> resampled_means(std::span<const double> values, unsigned long long seed) {
  TANDEM_CHECK(!values.empty(), "nothing to draw from");
  std::mt19937_64 random(seed);
  std::vector<double> means(kResamples);
  for (double& mean : means) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[place(random, values.size())];
    mean = sum / static_cast<double>(values.size());
  }
  return means;
}

double expanded_confidence(double confidence, int n) {
  TANDEM_CHECK(n >= 2, "{} values do not tell how they scatter", n);
  const double t = student_t_critical(confidence, n - 1);
  return 1 - 2 * normal_cdf(-t * std::sqrt(n / (n - 1.0)));
}

Interval percentile_interval(std::vector<double> replicates, double confidence) {
  TANDEM_CHECK(!replicates.empty(), "no replicates");
  std::ranges::sort(replicates);
  const double outside = (1 - confidence) / 2;
  return {quantile(replicates, outside), quantile(replicates, 1 - outside)};
}

Interval bootstrap_mean(std::span<const double> values) {
  const double asked = expanded_confidence(kConfidence, static_cast<int>(values.size()));
  return percentile_interval(resampled_means(values, kSeed), asked);
}

Interval bootstrap_difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences = resampled_means(a, kSeed);
  const std::vector<double> others = resampled_means(b, kOtherSeed);
  for (std::size_t i = 0; i < differences.size(); ++i) differences[i] -= others[i];
  const auto n = static_cast<int>(std::min(a.size(), b.size()));
  return percentile_interval(std::move(differences), expanded_confidence(kConfidence, n));
}

namespace {

double squared_error(const Term& term) {
  return term.weight * term.weight * sample_variance(term.launch_means) /
         static_cast<double>(term.launch_means.size());
}

// Computes with shares of the sum, since the squares of tiny errors would underflow. Where no term
// scatters, any number will do: the interval is a point.
double degrees_of_freedom(std::span<const Term> terms, double sum) {
  if (sum == 0) return 1;
  double inverse = 0;
  for (const Term& term : terms) {
    const double share = squared_error(term) / sum;
    inverse += share * share / static_cast<double>(term.launch_means.size() - 1);
  }
  return 1 / inverse;
}

}  // namespace

Estimate weighted_sum(std::span<const Term> terms) {
  TANDEM_CHECK(!terms.empty(), "a sum of no terms");
  Estimate result{.center = 0,
                  .interval = std::nullopt,
                  .launches = static_cast<int>(terms.front().launch_means.size())};
  for (const Term& term : terms) {
    result.center += term.weight * mean(term.launch_means);
    result.launches = std::min(result.launches, static_cast<int>(term.launch_means.size()));
  }
  if (result.launches < 2) return result;
  double sum = 0;
  for (const Term& term : terms) sum += squared_error(term);
  const double half =
      student_t_critical(kConfidence, degrees_of_freedom(terms, sum)) * std::sqrt(sum);
  result.interval = Interval{result.center - half, result.center + half};
  return result;
}

Estimate difference_of_means(std::span<const double> a, std::span<const double> b) {
  return weighted_sum(
      std::array{Term{.weight = 1, .launch_means = a}, Term{.weight = -1, .launch_means = b}});
}

bool is_resolved(const Estimate& difference) {
  return difference.interval && !difference.interval->holds(0);
}

}  // namespace tandem::stats
