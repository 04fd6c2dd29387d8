// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/driver/benchmark_flags.h"
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

using options::Check;
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

struct StepOptions {
  Variant variant{};
  JobOptions job{};
  // The strategies that are timed, one after another, where the command names no cell; empty where
  // the variant's strategy alone is timed.
  std::vector<StrategyKind> listed{};
  std::string model = "mlp-small";  // with the checksum of a workload file (workload_source.h)

  // On simulated devices, what a step of `single` takes; unset: what the machine says.
  std::optional<Nanoseconds> single_step{};
  std::string workload_origin{};  // of simulated seconds of a workload file, for people

  int free_running = 0;  // steps per sample without barrier or wait; 0: one step, synchronous
  Nanoseconds min_time = std::chrono::milliseconds(500);
  int min_samples = 10;
  std::optional<Nanoseconds> warmup_time{};  // unset: warmup_limits() decides
  int warmup_steps = 5;

  PeakRequest peak{};
  std::string record_file;      // empty: no record is written
  std::string calibrated_file;  // the calibration to be written instead of timing; empty: none
  std::vector<std::int64_t> calibrated_batches{};  // of that, in ascending order
  bool verify = false;
  std::optional<Check> check;         // set: the launch checks and does nothing else
  std::string ab;                     // "option=value" as given; empty: no pairs
  std::optional<Variant> ab_variant;  // the variant with that option changed
  int pairs = 200;

  std::map<std::string, std::string> named;  // options that differ from the defaults
  std::string shared;                        // a line per option that all ranks have to share
  std::string planted;                       // the planted delay as given; empty: none
  std::string flight_dir;                    // empty: no flight recorder
  bool check_numerics = false;
  int profiled_samples = 0;              // samples that a profiler is to capture
  std::string trace_file{};              // empty: no pass is traced
  int traced_samples = 0;                // samples of the traced pass
  std::string contention_file{};         // empty: no pass looks for contention
  int contention_pairs = 0;              // pairs of the contention pass
  const nvtx::Domain* ranges = nullptr;  // this process's NVTX domain, which StepWatch owns
  std::optional<Fault> fault;            // set only to see a job fail
  BenchmarkFlags benchmark;

  [[nodiscard]] int steps_per_sample() const { return std::max(1, free_running); }
};

// The options of a command line that options::check() takes, and the settings that follow from
// them. Throws usage errors for what only an option's owner can judge.
[[nodiscard]] StepOptions step_options(const options::Values& values);

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
