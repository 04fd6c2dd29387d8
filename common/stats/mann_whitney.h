// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "common/stats/estimate.h"

namespace tandem::stats {

// Whether one of two samples tends to lie above the other (Mann and Whitney, Annals of Mathematical
// Statistics 18, 1947). The test uses ranks alone, so that no outlier counts for more than one
// value.
struct MannWhitney {
  double u = 0;  // pairs in which a is above b; equal pairs count half
  double p = 1;  // two-sided: twice the smaller tail, 1 at most
};

// For up to 50 values in all, the tails are exact, ties included: the test counts all ways in which
// these values may fall to the two samples. Above 50 values, the test is the normal approximation
// with its corrections for ties and continuity.
[[nodiscard]] MannWhitney mann_whitney(std::span<const double> a, std::span<const double> b);

// Hodges and Lehmann's estimate of the ratio numerator / denominator: exp of the median of all
// differences of their logs. The interval inverts the test above for samples without ties: from the
// (k + 1)-th of these differences to the (k + 1)-th from the end, k the largest with P(U <= k) <=
// 0.025 (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, section 4.3). There is no
// interval where even k = 0 is too likely, as with three launches each.
[[nodiscard]] Estimate hodges_lehmann_ratio(std::span<const double> numerator,
                                            std::span<const double> denominator);

}  // namespace tandem::stats
