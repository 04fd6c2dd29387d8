// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "common/stats/estimate.h"

namespace tandem::stats {

// Ratio of two cells' launch medians, numerator / denominator, with its interval. With m, s, n of
// the logs of either cell: exp(m1 - m2), and exp(m1 - m2 -+ t(0.95, v) * e) with
// e^2 = s1^2/n1 + s2^2/n2 and Welch and Satterthwaite's degrees of freedom
// v = e^4 / ((s1^2/n1)^2 / (n1 - 1) + (s2^2/n2)^2 / (n2 - 1))  (Welch, Biometrika 34, 1947).
// The variances may differ: processes and threads do not scatter alike. No interval where either
// cell has one launch. Where both have 20 or more the interval of m1 - m2 is bootstrapped
// (bootstrap.h).
[[nodiscard]] Estimate ratio_of_medians(std::span<const double> numerator,
                                        std::span<const double> denominator);

// The same without a bootstrap and with `confidence` in place of 0.95: so far out in the tails as
// many comparisons at once need it, resampled launches have nothing to show. There Welch's
// approximation fails too where the numbers of launches differ much (at 1 - 0.05 / 21 it errs
// 3 times as often as it says with 20 launches against 4), so that where one side has fewer than
// three quarters of the other's the critical value is Cochran's, who weights both sides' own:
// (e1^2 t(n1 - 1) + e2^2 t(n2 - 1)) / e^2 (Cochran and Cox, Experimental Designs, section 4.14).
// `between_runs` is the standard deviation of the logs, known from elsewhere, by which a whole run
// is off, which its own launches cannot tell: 2 between_runs^2 joins e^2, as of a normal variable.
[[nodiscard]] Estimate ratio_by_t(std::span<const double> numerator,
                                  std::span<const double> denominator, double confidence,
                                  double between_runs = 0);

enum class Verdict { kFaster, kSlower, kNotResolved };

// "faster", "slower", "not resolved".
[[nodiscard]] std::string_view to_string(Verdict verdict);

// Judges a cell by its speed ratio (time of the other / own time): faster or slower where the
// whole interval lies on one side of 1. An interval that holds 1, or none at all, resolves nothing;
// it does not show that the two are equal.
[[nodiscard]] Verdict judge(const Estimate& speed_ratio);

}  // namespace tandem::stats
