// SPDX-License-Identifier: Apache-2.0
//
// Intervals by resampling (Efron and Tibshirani, An Introduction to the Bootstrap), for 20 launches
// and more. The plain percentile interval of n values is too narrow by sqrt((n - 1) / n) and by the
// normal quantile in place of Student's: with 20 launches that interval covers 93 % instead of 95
// %. So the percentiles here lie further out by exactly both factors ("expanded", Hesterberg, The
// American Statistician 69, 2015, section 5.2). Random numbers come from one fixed seed, so equal
// data give equal intervals.
#pragma once

#include <span>
#include <vector>

#include "common/stats/estimate.h"

namespace tandem::stats {

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

}  // namespace tandem::stats
