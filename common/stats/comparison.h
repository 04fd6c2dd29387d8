// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/stats/estimate.h"

namespace tandem::stats {

// The ratio of launch medians of two runs, numerator / denominator, with its interval. With m, s, n
// of the logs of either: exp(m1 - m2), and exp(m1 - m2 -+ t(confidence, v) * e) with e^2 = s1^2/n1
// + s2^2/n2 and Welch and Satterthwaite's degrees of freedom v = e^4 / ((s1^2/n1)^2 / (n1 - 1) +
// (s2^2/n2)^2 / (n2 - 1)) (Welch, Biometrika 34, 1947). The variances may differ, since processes
// and threads do not scatter alike. There is no interval where either has one launch. In the tails
// that many comparisons at once need, Welch's approximation fails where the numbers of launches
// differ much (at 1 - 0.05 / 21 the approximation errs 3 times as often as stated with 20 launches
// against 4). So where one side has fewer than three quarters of the other's launches the critical
// value is Cochran's, which weights the values of both sides: (e1^2 t(n1 - 1) + e2^2 t(n2 - 1)) /
// e^2 (Cochran and Cox, Experimental Designs, section 4.14). `between_runs` is the standard
// deviation of a whole run's error on logs, which has to be known from elsewhere, since the
// launches of one run cannot show that error: 2 between_runs^2 joins e^2, as of a normal variable.
[[nodiscard]] Estimate ratio_by_t(std::span<const double> numerator,
                                  std::span<const double> denominator,
                                  double confidence = kConfidence, double between_runs = 0);

enum class Verdict { kFaster, kSlower, kNotResolved };

// The verdict's name: "faster", "slower", "not resolved".
[[nodiscard]] std::string_view to_string(Verdict verdict);

// Judges a cell by its speed ratio (time of the other / own time): faster or slower where the whole
// interval lies on one side of 1. An interval that holds 1, or a missing interval, is not resolved,
// which does not show that the two cells are equal.
[[nodiscard]] Verdict judge(const Estimate& speed_ratio);

// The change of a cell between two runs, before and after, with one false-alarm rate for all cells
// together. By Bonferroni each of m cells has an interval of confidence 1 - 0.05 / m, so that with
// 95 % all intervals hold the truth at once, and then every verdict of the rule below is right.
// (Holm's steps would resolve a few more cells, but have no intervals.)
enum class Change { kFaster, kSlower, kSame, kNotSlower, kUnsure };

// The change's name: "FASTER", "SLOWER", "SAME", "NOT SLOWER", "UNSURE".
[[nodiscard]] std::string_view to_string(Change change);

// The confidence of each interval where `comparisons` intervals, at least one, hold together at 95
// %.
[[nodiscard]] double confidence_of_each(std::size_t comparisons);

// Judges a change by the interval [low, high] of the time after / before, and by a threshold (0.03:
// 3 %, not below 0) under which a change does not matter:
//   SAME        1 / (1 + threshold) <= low and high <= 1 + threshold
//   SLOWER      not SAME, and low > 1: slower, possibly by more than the threshold
//   FASTER      not SAME, and high < 1
//   NOT SLOWER  none of these, and high <= 1 + threshold: the same or faster, not slower by more
//   UNSURE      all other intervals, and a missing one
[[nodiscard]] Change judge_change(const Estimate& time_ratio, double threshold);

// Whether the whole interval lies beyond the threshold, on the side of the change.
[[nodiscard]] bool is_beyond(const Estimate& time_ratio, double threshold);

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
