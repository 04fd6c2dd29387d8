// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/driver/google_benchmark.h"
#include "bench/driver/sampler.h"
#include "bench/job/barrier_skew.h"
#include "bench/job/job.h"
#include "bench/observe/gpu_watch.h"
#include "bench/step/rank_figures.h"
#include "bench/step/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/model/model.h"
#include "common/results/launch_record.h"

namespace tandem::bench {

// The findings of one launch, before they become its record.
struct Measurement {
  Warmup warmup;
  std::vector<double> step_seconds;  // per sample
  // The times of all ranks' devices, by device; no phases where phases are off.
  std::vector<DevicePhaseTimes> phases;
  std::vector<DeviceCollectiveTimes> collectives;
  std::vector<Bytes> bucket_sizes;
  std::vector<MemoryUse> memory;          // all ranks' devices, by device
  std::vector<results::GpuRecord> gpus;   // GPUs of all ranks that NVML knows, by device
  std::optional<double> joules_per_step;  // of all GPUs together
  // The time that others used while the samples ran; absent where these are simulated.
  std::optional<results::TakenTime> taken;
  std::vector<results::ThreadPlace> threads;    // the threads of all ranks
  std::map<std::string, std::string> resolved;  // Strategy::resolved_options()
  std::vector<std::string> warnings;
  std::map<std::string, double> rests_on;  // shares of a simulated step's critical path; else empty
  int devices_used = 0;                    // devices of all ranks
  double dispatches_per_step = 0;          // dispatches of all ranks
  double peak_gflops = 0;    // GFLOP/s of a device, as given or measured; 0: not known
  BarrierSkew barrier_skew;  // skew on several nodes; else zero
};

// The limits of a process's first warm-up; on GPUs without a time given, `gpus` report when clocks
// are steady. All arguments outlive the limits.
[[nodiscard]] WarmupLimits settling_warmup(const Job& job, const StepOptions& options,
                                           GpuWatch& gpus);

// Times the step: warm-up, then as many samples as the options ask for.
// Collective.
[[nodiscard]] Measurement measure_step(GoogleBenchmark& driver, Bootstrap& bootstrap, Job& job,
                                       const StepOptions& step, const SamplingOptions& options,
                                       const Model& model);

}  // namespace tandem::bench
