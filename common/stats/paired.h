// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "common/stats/estimate.h"

namespace tandem::stats {

// The median of paired ratios b[i] / a[i] with a distribution-free 95 % interval: the order
// statistics n/2 -+ 1.96 sqrt(n)/2 (binomial, normal approximation; Conover, Practical
// Nonparametric Statistics, section 3.2). Single slow steps of a noisy machine do not move the
// median. There is no interval below 20 pairs. `launches` of the result counts pairs.
[[nodiscard]] Estimate median_of_paired_ratios(std::span<const double> a,
                                               std::span<const double> b);

// Times of interleaved pairs of a and b.
struct PairedTimes {
  std::vector<double> a;
  std::vector<double> b;
};

// The ratio b / a over sets of pairs, where the sides have changed places in every second set. The
// effect of a place then cancels within two successive sets, which make one unit; a unit's ratio is
// the geometric mean of its sets' medians. Centre and interval are those of center_by_t() over the
// units; `launches` of the result counts units. A last set without a partner is a unit alone.
[[nodiscard]] Estimate ratio_of_paired_sets(std::span<const PairedTimes> sets);

}  // namespace tandem::stats
