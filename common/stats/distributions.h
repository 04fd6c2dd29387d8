// SPDX-License-Identifier: Apache-2.0
//
// Distributions, as Boost.Math has them.
#pragma once

namespace tandem::stats {

// P(Z <= z) of the standard normal distribution.
[[nodiscard]] double normal_cdf(double z);

// The z with P(Z <= z) = probability, which lies between 0 and 1.
[[nodiscard]] double normal_quantile(double probability);

// The t with P(|T| <= t) = confidence, T of Student's t with `degrees` of freedom (not necessarily
// whole): the factor of the standard error in a two-sided interval.
[[nodiscard]] double student_t_critical(double confidence, double degrees);

}  // namespace tandem::stats
