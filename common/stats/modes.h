// SPDX-License-Identifier: Apache-2.0
//
// Whether times gather around two values: then their mean is a time that never occurs, and the next
// run may have another mixture of the two.
#pragma once

#include <optional>
#include <span>

namespace tandem::stats {

// Values cut in two at one place of their order, so that as much of their variance as can be is
// between the two parts (Fisher, Journal of the American Statistical Association 53, 1958).
struct Split {
  double share = 0;  // of the variance that lies between the parts; 0 where all values are equal
  double low = 0;    // mean of the lower part
  double high = 0;   // and of the upper one
  int low_count = 0;
  int high_count = 0;
};

// Both parts have `least` values or more; nothing where there are fewer than two times as many.
[[nodiscard]] std::optional<Split> best_split(std::span<const double> values, int least);

// Two modes are there where the best split of the logs, either part of which has two values or
// more and above a tenth of all, explains kFlatShare + kSplitMargin / sqrt(n + 1) or more of the
// variance, and the parts lie apart by `least_apart` (0.02: 2 %) or more. kFlatShare is what the
// best split of a flat distribution explains; a bell, a skewed and a heavy-tailed one have less.
// With the margin about one sample in 100 passes of whichever of these shapes passes most easily.
inline constexpr double kFlatShare = 0.75;
inline constexpr double kSplitMargin = 0.65;
inline constexpr int kFewestForModes = 6;
[[nodiscard]] std::optional<Split> find_modes(std::span<const double> times, double least_apart);

// For launches, and for the steps of one launch; fewer steps are not looked at.
inline constexpr double kLaunchesApart = 0.02;
inline constexpr double kStepsApart = 0.05;
inline constexpr int kFewestSteps = 20;

}  // namespace tandem::stats
