// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

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
// small. With 20 launches or more the interval of m is bootstrapped.
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

// Intervals are made by resampling (Efron and Tibshirani, An Introduction to the Bootstrap) from
// this number of launches on. The plain percentile interval of n values is too narrow by sqrt((n -
// 1) / n) and by the normal quantile in place of Student's: with 20 launches that interval covers
// 93 % instead of 95
// %. So the percentiles here lie further out by exactly both factors ("expanded", Hesterberg, The
// American Statistician 69, 2015, section 5.2). Random numbers come from one fixed seed, so equal
// data give equal intervals.
inline constexpr int kFewestForBootstrap = 20;

// The means of kResamples samples, each drawn with replacement and as large as `values`; not
// sorted.
[[nodiscard]] std::vector<double> resampled_means(std::span<const double> values,
                                                  unsigned long long seed);

// The confidence with which the percentile method covers `confidence` for n values: 1 - 2 Phi(-t
// sqrt(n / (n - 1))), t of Student's with n - 1 degrees of freedom.
[[nodiscard]] double expanded_confidence(double confidence, int n);

// The middle `confidence` of the replicates, by linear interpolation between order statistics.
[[nodiscard]] Interval percentile_interval(std::vector<double> replicates, double confidence);

// The interval of the mean of `values`.
[[nodiscard]] Interval bootstrap_mean(std::span<const double> values);

// The interval of the mean of `a` minus the mean of `b`, resampled apart; n is the smaller number
// of values.
[[nodiscard]] Interval bootstrap_difference(std::span<const double> a, std::span<const double> b);

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

// The mean of `a` minus the mean of `b`.
[[nodiscard]] Estimate difference_of_means(std::span<const double> a, std::span<const double> b);

// Whether the sign is known: the interval exists and does not hold 0.
[[nodiscard]] bool is_resolved(const Estimate& difference);

}  // namespace tandem::stats
