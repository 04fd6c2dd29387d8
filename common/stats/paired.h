// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "common/stats/estimate.h"

namespace tandem::stats {

// The median of paired ratios b[i] / a[i] with a distribution-free 95 % interval: the order
// statistics n/2 -+ 1.96 sqrt(n)/2 (binomial, normal approximation; Conover, Practical
// Nonparametric Statistics, section 3.2). Single slow steps of a noisy machine do not move it. No
// interval below 20 pairs. `launches` of the result counts pairs.
[[nodiscard]] Estimate median_of_paired_ratios(std::span<const double> a,
                                               std::span<const double> b);

}  // namespace tandem::stats
