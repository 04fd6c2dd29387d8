// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/launch_record.h"

namespace tandem::reports {

// The gap to explain: one point, measured or modelled.
struct GapQuestion {
  std::string model;
  std::int64_t batch = 0;  // samples per step over all devices
  int devices = 2;
  std::string backend = "auto";
  std::string input = "host";  // where a step's batch starts
  std::string precision = "fp32";
  std::string link;               // the link model; empty: none
  std::string dispatch_cost;      // dispatch cost of the modelled chart; empty: none
  bool interpreter_lock = false;  // the lock in the modelled chart
  // A delay that checks the method: on device 0 of every rung with the phase, once per step; empty:
  // none.
  std::string plant;
  // The implementation whose ddp is compared with Tandem's, such as "torch-2.15.0"; empty: none.
  std::string implementation{};
  bool implementation_has_dp = false;  // compares dp too, which torch has only on GPUs
};

// The cells that an explanation needs. The first nine, in this order, are the ladder.
enum class Rung {
  kDp,
  kKeptThreads,
  kTreeTransfers,
  kLossInReplicas,
  kAllReduce,
  kLocalInput,
  kBuckets,
  kOverlap,
  kProcesses,
  // Each of these rungs removes one cause from the top of its family.
  kTransfersAlone,
  kLossAlone,
  kBucketsAlone,
  kOverlapAlone,
  kProcessesAlone,
  // Each of these rungs puts one cause back at the bottom of its family.
  kThreadsBack,
  kTransfersBack,
  kScatterBack,
  kOneBucketBack,
  kStockDdp,
  kIndependent,
  // These rungs are modelled.
  kDpDispatch,
  kDdpDispatch,
  kDpLock,
  // These rungs are another implementation's, and `single` of both sides on one device's share of
  // the batch.
  kTheirDdp,
  kTheirDp,
  kTheirSingle,
  kOwnSingle,
};

inline constexpr std::array kLadder{
    Rung::kDp,        Rung::kKeptThreads, Rung::kTreeTransfers, Rung::kLossInReplicas,
    Rung::kAllReduce, Rung::kLocalInput,  Rung::kBuckets,       Rung::kOverlap,
    Rung::kProcesses};

struct RungCell {
  Rung rung{};
  std::string label;  // the change against the rung above, or the rung's own name
  results::Cell cell;
};

// All cells that answer the question, the ladder first, each rung once.
[[nodiscard]] std::vector<RungCell> ladder_cells(const GapQuestion& question);

}  // namespace tandem::reports
