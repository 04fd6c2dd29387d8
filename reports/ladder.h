// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/launch_record.h"

namespace tandem::reports {

// Which gap is to be explained: one point, measured or on models.
struct GapQuestion {
  std::string model;
  std::int64_t batch = 0;  // over all devices
  int devices = 2;
  std::string backend = "auto";
  std::string input = "host";  // where a step's batch starts
  std::string precision = "fp32";
  std::string link;               // the link model; empty: none
  std::string dispatch_cost;      // for the modelled chart; empty: none
  bool interpreter_lock = false;  // also in that chart
  // A delay as a check: on device 0 of every rung that has the phase, once per step; empty: none.
  std::string plant;
  // Whose ddp is held against Tandem's, such as "torch-2.15.0"; empty: nobody's.
  std::string implementation{};
  bool implementation_has_dp = false;  // and dp as well: torch's is between GPUs
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
  // Causes removed from the top of their family alone ...
  kTransfersAlone,
  kLossAlone,
  kBucketsAlone,
  kOverlapAlone,
  kProcessesAlone,
  // ... and put back at its bottom alone.
  kThreadsBack,
  kTransfersBack,
  kScatterBack,
  kOneBucketBack,
  kStockDdp,
  kIndependent,
  // Modelled.
  kDpDispatch,
  kDdpDispatch,
  kDpLock,
  // Another implementation's, and on one device's share of the batch both sides' single.
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
  std::string label;  // what it changes against the rung above, or what it is
  results::Cell cell;
};

// All cells that answer the question, the ladder first; each rung once.
[[nodiscard]] std::vector<RungCell> ladder_cells(const GapQuestion& question);

}  // namespace tandem::reports
