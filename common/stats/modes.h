// SPDX-License-Identifier: Apache-2.0
//
// Whether times gather around two values. The mean of such times never occurs, and the next run may
// mix the two values in another proportion.
#pragma once

#include <optional>
#include <span>

namespace tandem::stats {

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

// Values have two modes where the best split of the logs, each part of which has two values or more
// and above a tenth of all, explains kFlatShare + kSplitMargin / sqrt(n + 1) or more of the
// variance, and the parts lie apart by `least_apart` (0.02: 2 %) or more. kFlatShare is the share
// that the best split of a flat distribution explains; the best split of a bell, a skewed or a
// heavy-tailed distribution explains less. With the margin about one sample in 100 passes of
// whichever of these shapes passes most easily.
inline constexpr double kFlatShare = 0.75;
inline constexpr double kSplitMargin = 0.65;
inline constexpr int kFewestForModes = 6;
[[nodiscard]] std::optional<Split> find_modes(std::span<const double> times, double least_apart);

// The least distance for launches, and for the steps of one launch; a launch with too few steps is
// not examined.
inline constexpr double kLaunchesApart = 0.02;
inline constexpr double kStepsApart = 0.05;
inline constexpr int kFewestSteps = 20;

}  // namespace tandem::stats
