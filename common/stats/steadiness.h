// SPDX-License-Identifier: Apache-2.0
//
// Whether a cell's figure can stand for it: launches that drift are not independent of one another,
// as a cell's interval takes them to be, and the mean of times around two values never occurs.
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

// The values cut in two at one place of their sorted order, so that the largest possible share of
// the variance lies between the two parts (Fisher, Journal of the American Statistical Association
// 53, 1958).
struct Split {
  double share = 0;  // share of variance between the parts; 0: all values are equal
  double low = 0;    // mean of the lower part
  double high = 0;   // mean of the upper part
  int low_count = 0;
  int high_count = 0;
};

// The best split into parts of `least` values or more each; nothing where there are fewer than 2 *
// `least` values.
[[nodiscard]] std::optional<Split> best_split(std::span<const double> values, int least);

// Values have two modes, which the next run may mix in another proportion, where the best split of
// the logs, each part of which has two values or more and above a tenth of all, explains kFlatShare
// + kSplitMargin / sqrt(n + 1) or more of the variance, and the parts lie apart by `least_apart`
// (0.02: 2 %) or more. kFlatShare is the share that the best split of a flat distribution explains;
// the best split of a bell, a skewed or a heavy-tailed distribution explains less. With the margin
// about one sample in 100 passes of whichever of these shapes passes most easily.
inline constexpr double kFlatShare = 0.75;
inline constexpr double kSplitMargin = 0.65;
inline constexpr int kFewestForModes = 6;
[[nodiscard]] std::optional<Split> find_modes(std::span<const double> times, double least_apart);

// The least distance for launches.
inline constexpr double kLaunchesApart = 0.02;

}  // namespace tandem::stats
