// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/sampler.h"
#include "bench/step_options.h"
#include "common/comm/bootstrap.h"

namespace tandem::bench {

// What one launch found, before it becomes a record.
struct Measurement {
  Warmup warmup;
  std::vector<double> step_seconds;  // per sample
  std::vector<DeviceTimes> phases;   // of all ranks' devices, by device; empty with phases off
  std::vector<Bytes> bucket_sizes;
  std::vector<MemoryUse> memory;  // of all ranks' devices, by device
};

// How many samples fill `min_time` and are `min_samples` at least: the same on every rank, since
// the warm-up's figures are.
[[nodiscard]] int sample_count(const StepOptions& options, const Warmup& warmup);

// Collective: what every rank knows of its own devices, brought together on all ranks.
[[nodiscard]] std::vector<DeviceTimes> gather_phases(Bootstrap& bootstrap,
                                                     const std::vector<DeviceTimes>& mine);
[[nodiscard]] std::vector<MemoryUse> gather_memory(Bootstrap& bootstrap, Platform& platform,
                                                   const Device* mine);

}  // namespace tandem::bench
