// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace tandem::stats {

inline constexpr double kConfidence = 0.95;

// Distributions, as Boost.Math has them.

// P(Z <= z) of the standard normal distribution.
[[nodiscard]] double normal_cdf(double z);

// The z with P(Z <= z) = probability, which lies between 0 and 1.
[[nodiscard]] double normal_quantile(double probability);

// The t with P(|T| <= t) = confidence, T of Student's t with `degrees` of freedom (not necessarily
// whole): the factor of the standard error in a two-sided interval.
[[nodiscard]] double student_t_critical(double confidence, double degrees);

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

// The centre and interval of positive values that are not launches of rounds. With y = log(value),
// m and s the mean and standard deviation of y over n values: exp(m), the geometric mean, and exp(m
// -+ t(0.95, n - 1) * s / sqrt(n)).
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

// One cell in a sum: the weight of the cell's mean, and the cell's launches.
struct Term {
  double weight = 1;
  std::span<const double> launch_means;
};

// The sum of weight * mean over cells measured independently of each other, each of which occurs
// once, with its 95 % interval: sum -+ t(0.95, v) * e with e^2 = sum of e_i^2, e_i^2 = w_i^2 s_i^2
// / n_i, and Satterthwaite's degrees of freedom v = e^4 / sum of (e_i^4 / (n_i - 1))
// (Satterthwaite, Biometrics Bulletin 2, 1946; with two terms Welch's, Biometrika 34, 1947). There
// is no interval where a cell has one launch. The sum takes means and not logs of medians, since
// only means add.
[[nodiscard]] Estimate weighted_sum(std::span<const Term> terms);

// Whether the sign is known: the interval exists and does not hold 0.
[[nodiscard]] bool is_resolved(const Estimate& difference);

}  // namespace tandem::stats
