// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tandem::stats {

inline constexpr double kConfidence = 0.95;

// Printed beside the figures that they made.
inline constexpr std::string_view kMethod =
    "95 % intervals on log launch medians, by Student's t (ratios by Welch's) below 20 launches, "
    "bootstrapped from 20";

struct Interval {
  double low = 0;
  double high = 0;

  [[nodiscard]] bool holds(double value) const { return low <= value && value <= high; }
};

// A figure over launches, the unit of statistics: samples within one launch share its placement,
// its memory and its moment, so they say little about the next launch.
struct Estimate {
  double center = 0;
  std::optional<Interval> interval;  // absent with one launch: nothing tells how launches vary
  int launches = 0;                  // the smaller number where two cells are compared
};

// Centre and interval of launch medians (positive, e.g. seconds). With y = log(median), m and s
// their mean and standard deviation over n launches: exp(m), the geometric mean, and
// exp(m -+ t(0.95, n - 1) * s / sqrt(n)). Student's t interval on logs (Altman et al., Statistics
// with Confidence, on log transforms): times are positive and vary by factors, and n is small. From
// 20 launches on the interval of m is bootstrapped (bootstrap.h).
[[nodiscard]] Estimate center_of_medians(std::span<const double> launch_medians);

// The same by Student's t, however many there are: for units that are no launches.
[[nodiscard]] Estimate center_by_t(std::span<const double> values);

// Arithmetic mean of launch means with Student's t interval: mean -+ t(0.95, n - 1) * s / sqrt(n).
// For quantities that have to add up, such as phase times and time per step in throughput.
[[nodiscard]] Estimate center_of_means(std::span<const double> launch_means);

// amount / estimate, as throughput = batch / mean step. The interval's ends change places; it is
// absent where the lower end of the time is not positive, for then the rate has no upper end.
[[nodiscard]] Estimate rate(double amount, const Estimate& time);

// estimate / divisor, which is positive, interval included: efficiency = speed-up / devices.
[[nodiscard]] Estimate divided(const Estimate& estimate, double divisor);

}  // namespace tandem::stats
