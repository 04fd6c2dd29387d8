// SPDX-License-Identifier: Apache-2.0
#include "common/stats/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "common/base/error.h"
#include "common/stats/estimate.h"
#include "common/stats/summary.h"

namespace tandem::stats {

namespace {

// The squared standard error of a mean.
double squared_error(const std::vector<double>& values) {
  return sample_variance(values) / static_cast<double>(values.size());
}

// The parts of the squared standard error of a difference of two means.
struct Errors {
  double first;
  double n1;
  double second;
  double n2;
  double known;  // variance that the launches do not show

  [[nodiscard]] double sum() const { return first + second + known; }
};

// Welch and Satterthwaite's degrees of freedom. Where neither side scatters, the pooled number (any
// number will do: the interval is a point, or that of the known variance).
double degrees_of_freedom(const Errors& errors) {
  if (errors.first + errors.second == 0) return errors.n1 + errors.n2 - 2;
  // Computes with shares of the sum, since the squares of tiny errors would underflow.
  const double share1 = errors.first / errors.sum();
  const double share2 = errors.second / errors.sum();
  return 1 / (share1 * share1 / (errors.n1 - 1) + share2 * share2 / (errors.n2 - 1));
}

// The half of an interval in standard errors: by Welch, and by Cochran (comparison.h).
double welch(double confidence, const Errors& errors) {
  return student_t_critical(confidence, degrees_of_freedom(errors));
}

double cochran(double confidence, const Errors& errors) {
  if (errors.sum() == 0) return 0;
  return (errors.first * student_t_critical(confidence, errors.n1 - 1) +
          errors.second * student_t_critical(confidence, errors.n2 - 1) +
          errors.known * normal_quantile((1 + confidence) / 2)) /
         errors.sum();
}

}  // namespace

Estimate ratio_by_t(std::span<const double> numerator, std::span<const double> denominator,
                    double confidence, double between_runs) {
  const std::vector<double> top = logs(numerator);
  const std::vector<double> bottom = logs(denominator);
  Estimate difference{.center = mean(top) - mean(bottom),
                      .interval = std::nullopt,
                      .launches = static_cast<int>(std::min(top.size(), bottom.size()))};
  if (difference.launches >= 2) {
    const Errors errors{.first = squared_error(top),
                        .n1 = static_cast<double>(top.size()),
                        .second = squared_error(bottom),
                        .n2 = static_cast<double>(bottom.size()),
                        .known = 2 * between_runs * between_runs};
    const bool is_uneven = 4 * difference.launches < 3 * std::max(errors.n1, errors.n2);
    const double critical = is_uneven ? cochran(confidence, errors) : welch(confidence, errors);
    const double half = critical * std::sqrt(errors.sum());
    difference.interval = Interval{difference.center - half, difference.center + half};
  }
  return exponential(difference);
}

std::string_view to_string(Verdict verdict) {
  constexpr std::array<std::string_view, 3> kNames{"faster", "slower", "not resolved"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

Verdict judge(const Estimate& speed_ratio) {
  if (!speed_ratio.interval || speed_ratio.interval->holds(1)) return Verdict::kNotResolved;
  return speed_ratio.center > 1 ? Verdict::kFaster : Verdict::kSlower;
}

std::string_view to_string(Change change) {
  constexpr std::array<std::string_view, 5> kNames{"FASTER", "SLOWER", "SAME", "NOT SLOWER",
                                                   "UNSURE"};
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
  return high <= 1 + threshold ? Change::kNotSlower : Change::kUnsure;
}

bool is_beyond(const Estimate& time_ratio, double threshold) {
  if (!time_ratio.interval) return false;
  return time_ratio.interval->low > 1 + threshold ||
         time_ratio.interval->high < 1 / (1 + threshold);
}

Estimate median_of_paired_ratios(std::span<const double> a, std::span<const double> b) {
  constexpr std::size_t kFewestForInterval = 20;  // below, the approximation covers too little
  constexpr double kNormalQuantile = 1.959964;    // quantile of 97.5 %
  TANDEM_CHECK(a.size() == b.size() && !a.empty(), "{} and {} values", a.size(), b.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(b[i] / a[i]);
  std::ranges::sort(ratios);
  Estimate estimate{
      .center = median(ratios), .interval = {}, .launches = static_cast<int>(a.size())};
  if (ratios.size() < kFewestForInterval) return estimate;
  const auto n = static_cast<double>(ratios.size());
  const double half = kNormalQuantile * std::sqrt(n) / 2;
  const auto low = static_cast<std::size_t>(std::floor(n / 2 - half));
  estimate.interval = Interval{ratios[low], ratios[ratios.size() - 1 - low]};
  return estimate;
}

Estimate ratio_of_paired_sets(std::span<const PairedTimes> sets) {
  TANDEM_CHECK(!sets.empty(), "no set of pairs");
  const auto ratio_of = [](const PairedTimes& set) {
    return median_of_paired_ratios(set.a, set.b).center;
  };
  std::vector<double> units;
  for (std::size_t first = 0; first < sets.size(); first += 2) {
    const std::size_t second = std::min(first + 1, sets.size() - 1);
    units.push_back(std::sqrt(ratio_of(sets[first]) * ratio_of(sets[second])));
  }
  return center_by_t(units);
}

}  // namespace tandem::stats
