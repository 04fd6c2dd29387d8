// SPDX-License-Identifier: Apache-2.0
#include "common/stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

#include "common/base/error.h"
#include "common/stats/normal.h"
#include "common/stats/student_t.h"

namespace tandem::stats {
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
  std::sort(replicates.begin(), replicates.end());
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

}  // namespace tandem::stats
