// SPDX-License-Identifier: Apache-2.0
//
// How far two implementations agree on the ends of the ladder: PyTorch on a user's module, and
// Tandem on the module's export.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/stats/estimate.h"
#include "reports/model/ladder.h"

namespace tandem::reports {

// One end, measured on both sides.
struct Agreement {
  std::string end;         // "ddp", or "single, a share"
  stats::Estimate theirs;  // median step, seconds
  stats::Estimate ours;
  std::optional<stats::Estimate> ratio;  // of launch medians, theirs / ours
  std::string missing;                   // why there is no ratio; else empty
};

// The ends that the question has of another implementation; empty where it is about no module.
[[nodiscard]] std::vector<Agreement> agreement_of(const MeasuredLadder& ladder,
                                                  const GapQuestion& question);

// The factor, 1 or more, within which all ends agree by the farther end of each interval; nothing
// where an end has no interval.
[[nodiscard]] std::optional<double> farthest_apart(const std::vector<Agreement>& ends);

}  // namespace tandem::reports
