// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/stats/estimate.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// Why the slower of two strategies is slower, by the measured phases of both.
struct Reason {
  const CellSummary* slower = nullptr;
  // The phase that takes longest beyond the faster one's, of those whose difference of means over
  // launches is resolved (95 % each); empty where no phase's difference is.
  std::string phase;
  stats::Estimate more{};  // seconds per step beyond the faster one's
  double share = 0;        // the phase's share of the slower one's mean step
};

// Absent where it is not resolved which of the two is faster, or where phases were not timed. The
// pair's document must outlive the reason.
[[nodiscard]] std::optional<Reason> reason_of(const StrategyPair& pair);

// The text ", above all because dp spends 9 to 27 % of its step adding gradients on device 0", of
// comparisons that the same strategy loses; it names the phase of most of them, and how many that
// is where reasons differ. Empty without reasons.
[[nodiscard]] std::string because(const std::vector<Reason>& reasons);

}  // namespace tandem::reports
