// SPDX-License-Identifier: Apache-2.0
//
// How likely rounds (rounds.h) are to tell a difference, before they are measured or after.
#pragma once

#include <optional>

#include "common/stats/estimate.h"

namespace tandem::stats {

// The rounds of a comparison. The scatter is the standard deviation of the log of one round's
// ratio; where rounds are trimmed, that of rounds without wild launches which would be as precise.
struct RoundsAhead {
  double scatter = 0;
  int rounds = 0;  // 2 at least
  double confidence = kConfidence;
};

// The scatter that the interval of a ratio_in_rounds() of `confidence` shows; nothing without an
// interval.
[[nodiscard]] std::optional<double> scatter_of(const Estimate& ratio, double confidence);

// The probability that the interval of the rounds lies on the right side of 1, where the truth is
// `ratio`: that of the noncentral t distribution, by its normal approximation (Abramowitz and
// Stegun 26.7.10). Where normal values are trimmed, they are told less often, by 5 points at most.
[[nodiscard]] double power_of(const RoundsAhead& ahead, double ratio);

// The probability with which a difference that counts as told is told.
inline constexpr double kPower = 0.8;

// The least ratio above 1 that the rounds tell with probability kPower.
[[nodiscard]] double least_ratio_told(const RoundsAhead& ahead);

inline constexpr int kMostRoundsAhead = 1000;

// The fewest rounds that tell `ratio` with probability kPower; nothing where even kMostRoundsAhead
// do not.
[[nodiscard]] std::optional<int> rounds_to_tell(double ratio, double scatter, double confidence);

}  // namespace tandem::stats
