// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/barrier_skew.h"
#include "bench/sampler.h"
#include "bench/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/results/launch_record.h"

namespace tandem::bench {

// One device's books over all samples of a launch.
struct DeviceBooks {
  int device = 0;
  std::vector<PhaseTimes> samples;
};

// One device's gradient collectives, in launch order, of each sample.
struct DeviceCollectiveBooks {
  int device = 0;
  std::vector<std::vector<CollectiveTimes>> samples;
};

// What one launch found, before it becomes a record.
struct Measurement {
  Warmup warmup;
  std::vector<double> step_seconds;  // per sample
  std::vector<DeviceBooks> phases;   // of all ranks' devices, by device; empty with phases off
  std::vector<DeviceCollectiveBooks> collectives;  // the same
  std::vector<Bytes> bucket_sizes;
  std::vector<MemoryUse> memory;                // of all ranks' devices, by device
  std::vector<results::GpuRecord> gpus;         // the same, of those that NVML knows
  std::vector<results::ThreadPlace> threads;    // of all ranks
  std::map<std::string, std::string> resolved;  // Strategy::settled_options()
  std::vector<std::string> warnings;
  int devices_used = 0;            // of all ranks
  double dispatches_per_step = 0;  // of all ranks
  double peak_gflops = 0;          // of a device, as given or measured; 0: not known
  double lateness_seconds = 0;     // behind a modelled link: mean per step, of the latest rank
  double overshoot_seconds = 0;    // of a sleep to a modelled end: the largest of all ranks
  BarrierSkew barrier_skew;        // on several nodes; else zero
};

// Keeps the books of this rank's devices, sample by sample, and brings all ranks' together.
class Books {
 public:
  // Takes what the devices did in the latest sample.
  void add_sample(Strategy& strategy);

  // Collective: all devices', the same on all ranks.
  [[nodiscard]] std::vector<DeviceBooks> gather_phases(Bootstrap& bootstrap) const;
  [[nodiscard]] std::vector<DeviceCollectiveBooks> gather_collectives(Bootstrap& bootstrap) const;

 private:
  std::vector<DeviceBooks> phases_;
  std::vector<DeviceCollectiveBooks> collectives_;
};

// How many samples fill `min_time` and are `min_samples` at least: the same on every rank, since
// the warm-up's figures are.
[[nodiscard]] int sample_count(const StepOptions& options, const Warmup& warmup);

// Collective: every device's memory, on all ranks; `mine` is the one this rank speaks for, or null
// for all of them.
[[nodiscard]] std::vector<MemoryUse> gather_memory(Bootstrap& bootstrap, Platform& platform,
                                                   const Device* mine);

}  // namespace tandem::bench
