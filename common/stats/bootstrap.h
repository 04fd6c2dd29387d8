// SPDX-License-Identifier: Apache-2.0
//
// Intervals by resampling (Efron and Tibshirani, An Introduction to the Bootstrap), for 20 launches
// and more. The plain percentile interval of n values is too narrow by sqrt((n - 1) / n) and by the
// normal quantile in place of Student's: at 20 launches it covers 93 % where 95 % are asked for. So
// its percentiles lie further out by just that ("expanded", Hesterberg, The American Statistician
// 69, 2015, section 5.2). Random numbers come from one fixed seed: equal data, equal interval.
#pragma once

#include <span>
#include <vector>

#include "common/stats/estimate.h"

namespace tandem::stats {

inline constexpr int kFewestForBootstrap = 20;

// Means of kResamples samples, each drawn with replacement and as large as `values`; not sorted.
[[nodiscard]] std::vector<double> resampled_means(std::span<const double> values,
                                                  unsigned long long seed);

// What has to be asked of the percentile method so that n values cover `confidence`:
// 1 - 2 Phi(-t sqrt(n / (n - 1))), t of Student's with n - 1 degrees of freedom.
[[nodiscard]] double expanded_confidence(double confidence, int n);

// The middle `confidence` of the replicates, by linear interpolation between order statistics.
[[nodiscard]] Interval percentile_interval(std::vector<double> replicates, double confidence);

// Of the mean of `values`.
[[nodiscard]] Interval bootstrap_mean(std::span<const double> values);

// Of the mean of `a` minus the mean of `b`, resampled apart; n is the smaller number of both.
[[nodiscard]] Interval bootstrap_difference(std::span<const double> a, std::span<const double> b);

}  // namespace tandem::stats
