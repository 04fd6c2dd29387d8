// SPDX-License-Identifier: Apache-2.0
//
// The cost of ddp's communication: its extra time over the same computation without any, and how
// long gradient collectives take and the step waits for them.
#pragma once

#include <array>
#include <cstdint>
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

// A cell's gradient collectives.
struct CommunicationTimes {
  const CellSummary* cell = nullptr;
  std::vector<std::int64_t> bucket_bytes;  // of gradients, in launch order
  int left_out = 0;  // launches without collectives, or with other buckets than the first
  // Sum over all buckets, seconds per step, each of the fastest rank in each sample, which waited
  // for no other rank.
  stats::Estimate total;
  stats::Estimate exposed;  // the least rank's exposed_comm, seconds per step
  // The mean over launches of 1 - exposed / total; absent where the collectives took no time.
  std::optional<stats::Estimate> hidden_share{};

  [[nodiscard]] std::int64_t size_bytes() const;
};

// The cells of two ranks or more, as a world of one moves no data, whose launches recorded their
// collectives.
[[nodiscard]] std::vector<CommunicationTimes> communication_times(const Summary& summary);

}  // namespace tandem::reports
