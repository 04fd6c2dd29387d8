// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "common/results/launch_record.h"
#include "common/stats/estimate.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// The extra time of ddp over the same computation without communication, seconds per step. The
// parts sum to the difference of the two mean steps.
struct OwnCosts {
  stats::Estimate exposed_transfer;  // the least exposed_comm of all ranks, which holds no wait
  // The excess of the critical rank's forward, backward and exposed_comm over the least of all
  // ranks, minus the same excess of independent ranks, whose slowest rank ends their step too.
  stats::Estimate skew;
  stats::Estimate contention;  // growth of the least forward + backward of all ranks
  stats::Estimate bucket_copies;
  stats::Estimate rest;  // growth of input, loss, update and time in no phase
};

// The parts in the order in which reports list them.
inline constexpr std::array kCostParts{&OwnCosts::exposed_transfer, &OwnCosts::skew,
                                       &OwnCosts::contention, &OwnCosts::bucket_copies,
                                       &OwnCosts::rest};

// The parts of ddp's extra time. Both lists hold measured launches of one cell. Absent where either
// list is empty or holds a launch without phases.
[[nodiscard]] std::optional<OwnCosts> own_costs(
    const std::vector<const results::LaunchRecord*>& ddp,
    const std::vector<const results::LaunchRecord*>& independent);

// The cost of a cell of ddp against the same computation without communication.
struct DdpCost {
  const CellSummary* ddp = nullptr;
  const CellSummary* independent = nullptr;
  stats::Estimate share;          // median step of independent / median step of ddp
  stats::Estimate missing;        // mean step of ddp minus mean step of independent, seconds
  std::optional<OwnCosts> parts;  // sum to `missing`; absent where phases were not timed
};

// The cost of each measured cell of ddp that has a measured cell of independent ranks with the same
// launch, model, batch, devices, back end, mode, modelled parts, place of input, optimizer, seed
// and accumulation. The result points into the summary, whose document must outlive the result.
[[nodiscard]] std::vector<DdpCost> ddp_costs(const Summary& summary);

}  // namespace tandem::reports
