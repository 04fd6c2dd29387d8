// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tandem::stats {

inline constexpr double kConfidence = 0.95;

// The method's name, printed beside the figures.
inline constexpr std::string_view kMethod =
    "95 % intervals on log launch medians, by Student's t (ratios by Welch's) below 20 launches, "
    "bootstrapped from 20";

struct Interval {
  double low = 0;
  double high = 0;

  [[nodiscard]] bool holds(double value) const { return low <= value && value <= high; }
};

// A figure over launches, the unit of statistics: samples of one launch share their placement,
// memory and time, so the samples say little about the next launch.
struct Estimate {
  double center = 0;
  std::optional<Interval> interval;  // absent with one launch, which cannot show a variance
  int launches = 0;                  // the smaller number where two cells are compared
};

// The centre and interval of launch medians (positive, e.g. seconds). With y = log(median), m and s
// the mean and standard deviation of y over n launches: exp(m), the geometric mean, and exp(m -+
// t(0.95, n - 1) * s / sqrt(n)). Student's t interval on logs (Altman et al., Statistics with
// Confidence, on log transforms) fits because times are positive and vary by factors, and n is
// small. With 20 launches or more the interval of m is bootstrapped (bootstrap.h).
[[nodiscard]] Estimate center_of_medians(std::span<const double> launch_medians);

// The centre and interval by Student's t for any number of values, whose units are not launches.
[[nodiscard]] Estimate center_by_t(std::span<const double> values);

// The arithmetic mean of launch means with Student's t interval: mean -+ t(0.95, n - 1) * s /
// sqrt(n). Used for quantities that have to add up, such as phase times and time per step in
// throughput.
[[nodiscard]] Estimate center_of_means(std::span<const double> launch_means);

// The rate amount / time, such as throughput = batch / mean step. The interval's ends change
// places; the interval is absent where the lower end of the time is not positive, since the rate
// then has no upper end.
[[nodiscard]] Estimate rate(double amount, const Estimate& time);

// estimate / divisor, interval included, for a positive divisor: efficiency = speed-up / devices.
[[nodiscard]] Estimate divided(const Estimate& estimate, double divisor);

}  // namespace tandem::stats
