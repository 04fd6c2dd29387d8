// SPDX-License-Identifier: Apache-2.0
//
// Whether a cell's figure can stand for it: launches that drift are not independent of one another,
// as a cell's interval takes them to be.
#pragma once

#include <optional>
#include <span>

namespace tandem::stats {

// Kendall's test of the values against their time order (Biometrika 30, 1938; as a test of trend,
// Mann, Econometrica 13, 1945).
struct Trend {
  double tau = 0;  // -1: each value is below all before; 1: above all before
  double p = 1;    // two-sided; to 50 values exact, too large with ties; else normal
};

// Kendall's tau and p of the values; needs two values.
[[nodiscard]] Trend trend(std::span<const double> in_time_order);

// The median of the slopes between every two values, per step (Theil 1950, Sen 1968).
[[nodiscard]] double median_slope(std::span<const double> in_time_order);

// How much slower a cell's launches became during the run; below 0, faster.
struct Drift {
  double change = 0;  // first launch to last along the median slope; 0.05 is 5 %
  double p = 1;
};

// A cell drifts where the trend of its launch medians (positive) has p <= kDriftLevel, and the logs
// of the medians change by kLeastDrift or more over the run. Of 100 steady cells at most one is
// flagged; with fewer than six launches none is, since no order of five is that unlikely.
inline constexpr double kDriftLevel = 0.01;
inline constexpr double kLeastDrift = 0.02;
[[nodiscard]] std::optional<Drift> find_drift(std::span<const double> medians_in_time_order);

}  // namespace tandem::stats
