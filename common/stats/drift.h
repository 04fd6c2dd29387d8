// SPDX-License-Identifier: Apache-2.0
//
// Whether a cell's launches became slower or faster as the run went on: their intervals take
// launches as independent of one another, which such launches are not.
#pragma once

#include <optional>
#include <span>

namespace tandem::stats {

// Kendall's test of the values against their order (Biometrika 30, 1938; as a test of trend, Mann,
// Econometrica 13, 1945).
struct Trend {
  double tau = 0;  // -1: each value is below all before it; 1: above all of them
  double p = 1;  // two-sided; exact up to 50 values without ties, with ties too large; else normal
};

// Needs two values.
[[nodiscard]] Trend trend(std::span<const double> in_time_order);

// The median of the slopes between every two values, per step (Theil 1950, Sen 1968).
[[nodiscard]] double median_slope(std::span<const double> in_time_order);

struct Drift {
  double change = 0;  // from the first launch to the last, along the median slope: 0.05 is 5 %
  double p = 1;
};

// A drift is there where the trend of the launch medians (positive) has p <= kDriftLevel, and their
// logs change by kLeastDrift or more over the run. Of 100 steady cells at most one is flagged;
// below six launches none, for no order of five is that unlikely.
inline constexpr double kDriftLevel = 0.01;
inline constexpr double kLeastDrift = 0.02;
[[nodiscard]] std::optional<Drift> find_drift(std::span<const double> medians_in_time_order);

}  // namespace tandem::stats
