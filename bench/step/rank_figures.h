// SPDX-License-Identifier: Apache-2.0
//
// The figures of devices that ranks bring together: times by sample, and memory.
#pragma once

#include <vector>

#include "bench/job/job.h"
#include "common/comm/bootstrap.h"
#include "common/parallel/strategy.h"

namespace tandem::bench {

// One device's figures of each sample of a launch.
template <class Figures>
struct DeviceSamples {
  int device = 0;
  std::vector<Figures> samples;
};
using DevicePhaseTimes = DeviceSamples<PhaseTimes>;
using DeviceCollectiveTimes = DeviceSamples<std::vector<CollectiveTimes>>;  // in launch order

// Keeps the times of this rank's devices, sample by sample, and brings together those of all ranks.
class RankTimes {
 public:
  // Adds the phase times and collectives of the latest sample.
  void add_sample(Strategy& strategy);

  // The times of all ranks' devices, the same on every rank; of simulated processes those of each
  // class of ranks. Collective.
  [[nodiscard]] std::vector<DevicePhaseTimes> gather_phases(Bootstrap& bootstrap,
                                                            const Job& job) const;
  [[nodiscard]] std::vector<DeviceCollectiveTimes> gather_collectives(Bootstrap& bootstrap,
                                                                      const Job& job) const;

 private:
  std::vector<DevicePhaseTimes> phases_;
  std::vector<DeviceCollectiveTimes> collectives_;
};

// The memory of every device of the job, the same on every rank; of simulated processes that of
// each class of ranks. Collective.
[[nodiscard]] std::vector<MemoryUse> gather_memory(Bootstrap& bootstrap, const Job& job);

}  // namespace tandem::bench
