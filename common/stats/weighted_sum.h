// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "common/stats/estimate.h"

namespace tandem::stats {

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
