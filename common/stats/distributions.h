// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem::stats {

// P(Z <= z) of the standard normal distribution, by the complementary error function.
[[nodiscard]] double normal_cdf(double z);

// The z with P(Z <= z) = probability, which lies between 0 and 1. Found by bisection of
// normal_cdf() down to neighbouring doubles.
[[nodiscard]] double normal_quantile(double probability);

// The regularised incomplete beta function I_x(a, b) for a, b > 0 and 0 <= x <= 1, by the continued
// fraction of Abramowitz and Stegun 26.5.8, evaluated with Lentz's method; the symmetry I_x(a, b) =
// 1 - I_{1-x}(b, a) keeps x where the fraction converges fast. `complement` is 1 - x, given by the
// caller so that no digits are lost where x is close to 1.
[[nodiscard]] double incomplete_beta(double a, double b, double x, double complement);

// The t with P(|T| <= t) = confidence, T of Student's t with `degrees` of freedom (not necessarily
// whole): the factor of the standard error in a two-sided interval. Found by Newton's method, or
// where that fails by bisection of P(|T| > t) down to neighbouring doubles.
[[nodiscard]] double student_t_critical(double confidence, double degrees);

}  // namespace tandem::stats
