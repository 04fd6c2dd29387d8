// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/results/launch_record.h"
#include "common/stats/estimate.h"

namespace tandem::reports {

// What ddp takes more than the same without communication, seconds per step. The parts sum to the
// difference of the two mean steps.
struct OwnCosts {
  stats::Estimate exposed_transfer;  // the least exposed_comm of all ranks: it waits for nobody
  // What the critical rank has of forward, backward and exposed_comm beyond the least of all
  // ranks, minus the same of independent ranks, whose slowest one ends their step too.
  stats::Estimate skew;
  stats::Estimate contention;  // the least forward + backward of all ranks, slowed
  stats::Estimate bucket_copies;
  stats::Estimate rest;  // input, loss, update, in no phase
};

// Both lists hold launches of one cell that measured. Absent where either list is empty or holds a
// launch without phases.
[[nodiscard]] std::optional<OwnCosts> own_costs(
    const std::vector<const results::LaunchRecord*>& ddp,
    const std::vector<const results::LaunchRecord*>& independent);

// The least exposed_comm of all ranks in seconds per step: of every sample, where the record has it
// (schema 1.2.0), else of each rank's mean over the launch. The launch has to have phases.
[[nodiscard]] double least_exposed(const results::LaunchRecord& record);

}  // namespace tandem::reports
