// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/driver/sampler.h"
#include "bench/job/fault.h"
#include "bench/job/job.h"
#include "common/options/values.h"
#include "common/parallel/strategy.h"
#include "common/trace/nvtx.h"
#include "ddp/dp_all_reduce.h"
#include "ddp/reducer_options.h"
#include "dp/options.h"

namespace tandem::bench {

using options::StrategyKind;

// The fewest steps of a warm-up: ddp's buckets settle in the second step.
inline constexpr int kLeastWarmupSteps =
    static_cast<int>(options::Name("warmup-steps")->value.limits.least);

// One way to train, which --ab varies.
struct Variant {
  StrategyKind strategy = StrategyKind::kSingle;
  TrainingOptions training{};
  dp::DataParallelOptions dp{};
  ddp::Shards shards = ddp::Shards::kOwn;  // for dp-allreduce
  ddp::ReducerOptions reducer{};
  ddp::RankCommunicator communicator{};  // for dp-allreduce's threads; null: auto's choice
  Nanoseconds deadline = std::chrono::seconds(60);  // for dp-allreduce's threads to meet
};

// The peak that achieved FLOP/s are held against.
struct PeakRequest {
  bool is_measured = false;  // this launch measures the peak
  double gflops = 0;         // the peak as given; 0: not given
};

// A step and how steps are taken: what every run of step_bench has.
struct StepOptions {
  Variant variant{};
  JobOptions job{};
  std::string model = "mlp-small";  // with the checksum of a workload file (workload_source.h)

  // On simulated devices, what a step of `single` takes; unset: what the machine says.
  std::optional<Nanoseconds> single_step{};

  int free_running = 0;  // steps per sample without barrier or wait; 0: one step, synchronous
  std::optional<Nanoseconds> warmup_time{};  // unset: warmup_limits() decides
  int warmup_steps = 5;

  std::map<std::string, std::string> named;  // options that differ from the defaults
  std::string planted;                       // the planted delay as given; empty: none
  int profiled_samples = 0;                  // samples that a profiler is to capture
  const nvtx::Domain* ranges = nullptr;      // this process's NVTX domain, which StepWatch owns
  std::optional<Fault> fault;                // set only to see a job fail

  [[nodiscard]] int steps_per_sample() const { return std::max(1, free_running); }
};

// The samples that a launch takes of its step, and what they are held against.
struct SamplingOptions {
  Nanoseconds min_time = std::chrono::milliseconds(500);
  int min_samples = 10;
  PeakRequest peak{};
  std::string record_file{};  // empty: no record is written
};

// A step to be compared with one that has one option changed.
struct PairOptions {
  std::string change{};  // "option=value"
  Variant variant{};     // with the change
  int pairs = 200;
};

struct TraceOptions {
  std::string file{};
  int samples = 0;
};

struct CalibrationOptions {
  std::string file{};
  std::vector<std::int64_t> batches{};  // in ascending order
};

// The step of a command line that options::check() takes, and the settings that follow from it.
// Throws usage errors for what only an option's owner can judge.
[[nodiscard]] StepOptions step_options(const options::Values& values);

// A run's options beside the step that the same command line gives.
[[nodiscard]] SamplingOptions sampling_options(const options::Values& values,
                                               const StepOptions& step);
[[nodiscard]] PairOptions pair_options(const options::Values& values);
[[nodiscard]] TraceOptions trace_options(const options::Values& values, const StepOptions& step);
[[nodiscard]] CalibrationOptions calibration_options(const options::Values& values,
                                                     const StepOptions& step);

// The limits of a process's first warm-up, during which clocks and caches of devices settle. On
// GPUs, unless a time is given, `is_steady` decides the end as well.
[[nodiscard]] WarmupLimits warmup_limits(const StepOptions& options, Backend backend,
                                         std::function<bool()> is_steady);

// The limits where the process's devices have been at work before.
[[nodiscard]] WarmupLimits brief_warmup(const StepOptions& options);

// The shards that the options' global batch is cut into, in order of samples: a shard for each
// device that the strategy gives one, and within a device's shard a shard for each micro-batch.
[[nodiscard]] std::vector<Shard> shards_of(const StepOptions& options);

}  // namespace tandem::bench
