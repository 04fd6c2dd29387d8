// SPDX-License-Identifier: Apache-2.0
//
// Figures of launches that were measured in rounds, each round launching every cell once. What
// slows a machine for some minutes slows a whole round, so cells are compared round by round, and
// only what is left within a round widens an interval. Wild launches are trimmed. Both choices were
// made once, by simulation (docs/method/statistics.md), and not per document.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/stats/estimate.h"

namespace tandem::stats {

// The method's name, printed beside the figures.
inline constexpr std::string_view kMethod =
    "95 % trimmed t intervals on logs of launch medians, of ratios round by round";

// The launches that trimming leaves out at either end of n: none below 8, else one of six, at least
// one. With fewer, leaving two out costs more than a wild launch in six takes.
[[nodiscard]] int trimmed_at_each_end(int n);

// The half of an interval of `confidence` of trimmed_mean(), in its standard errors, for n values:
// f * t(h - 1).
[[nodiscard]] double half_in_errors(int n, double confidence);

// The trimmed mean of the values, with an interval of `confidence`: -+ t(h - 1) * f * s * sqrt((n -
// 1) / (h * (h - 1))), h of n values left, s the standard deviation of the values after each
// trimmed one took the place of the nearest one left (Tukey and McLaughlin, Sankhya A 25, 1963). f
// = 1 + 0.4 / h where values are trimmed: without this factor the interval of normal values misses
// up to 1.5 times as often as it says at 99.9 %. Without trimming this is Student's interval. No
// interval below two values.
[[nodiscard]] Estimate trimmed_mean(std::span<const double> values, double confidence);

// The centre and interval of launch medians (positive): trimmed_mean() of their logs, as exp.
[[nodiscard]] Estimate center_in_rounds(std::span<const double> launch_medians);

// The values of a cell's launches, and the round of each, no round twice.
struct InRounds {
  std::span<const double> values;
  std::span<const int> rounds;
};

// The values of each cell, so that place i of all lists is of one round: first the rounds that all
// cells share, then each cell's other launches in their order, as many as the cell with the fewest
// has: a launch that replaces a disturbed one was measured in a later round, by its cell alone.
[[nodiscard]] std::vector<std::vector<double>> side_by_side(std::span<const InRounds> cells);

// The ratio of launch medians, numerator[i] and denominator[i] of one round: trimmed_mean() of the
// logs of their ratios, as exp.
[[nodiscard]] Estimate ratio_in_rounds(std::span<const double> numerator,
                                       std::span<const double> denominator,
                                       double confidence = kConfidence);

// The same of cells whose rounds may differ.
[[nodiscard]] Estimate ratio_in_rounds(const InRounds& numerator, const InRounds& denominator,
                                       double confidence = kConfidence);

// One cell in a sum: the weight of the cell's mean, and the cell's launches.
struct RoundTerm {
  double weight = 1;
  InRounds cell;
};

// The sum of weight * mean over cells, so that sums and their parts add up; and Student's interval
// of the sums of each round, untrimmed. Cells with different numbers of launches are taken apart,
// as by weighted_sum().
[[nodiscard]] Estimate sum_in_rounds(std::span<const RoundTerm> terms);

}  // namespace tandem::stats
