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
// cell has one launch.
[[nodiscard]] Estimate ratio_of_medians(std::span<const double> numerator,
                                        std::span<const double> denominator);

enum class Verdict { kFaster, kSlower, kNotResolved };

// "faster", "slower", "not resolved".
[[nodiscard]] std::string_view to_string(Verdict verdict);

// Judges a cell by its speed ratio (time of the other / own time): faster or slower where the
// whole interval lies on one side of 1. An interval that holds 1, or none at all, resolves nothing;
// it does not show that the two are equal.
[[nodiscard]] Verdict judge(const Estimate& speed_ratio);

}  // namespace tandem::stats
