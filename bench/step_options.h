// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/benchmark_flags.h"
#include "bench/fault.h"
#include "bench/job.h"
#include "bench/strategy_kind.h"
#include "common/parallel/training_options.h"
#include "common/trace/nvtx.h"
#include "ddp/dp_all_reduce.h"
#include "ddp/reducer_options.h"
#include "dp/options.h"

namespace tandem::bench {

[[nodiscard]] std::string to_string(Launch launch);

// One way to train: what --ab varies.
struct Variant {
  StrategyKind strategy = StrategyKind::kSingle;
  TrainingOptions training{};
  dp::DataParallelOptions dp{};
  ddp::Shards shards = ddp::Shards::kOwn;  // of dp-allreduce
  ddp::ReducerOptions reducer{};
  ddp::RankCommunicator communicator{};             // of dp-allreduce's threads, and
  Nanoseconds deadline = std::chrono::seconds(60);  // for them to meet
};

// The peak that achieved FLOP/s are held against.
struct PeakRequest {
  bool is_measured = false;  // by this launch
  double gflops = 0;         // else as given; 0: not given
};

// What --check looks at: the command line alone, or whether this machine has the back end as well;
// or it says what the model is.
enum class Check { kOptions, kBackend, kModel };

struct StepOptions {
  Variant variant{};
  PlaceOptions place{};
  // All that are timed, one after another, where no cell is named; else variant's alone, and empty.
  std::vector<StrategyKind> listed{};
  std::string model = "mlp-small";  // a file's with its checksum: workloads/workload_source.h

  int free_running = 0;  // steps per sample without barrier or wait; 0: one step, synchronous
  Nanoseconds min_time = std::chrono::milliseconds(500);
  int min_samples = 10;
  Nanoseconds warmup_time = std::chrono::milliseconds(200);
  int warmup_steps = 5;

  PeakRequest peak{};
  std::string record_file;    // empty: none
  std::string workload_file;  // to be written instead of timing; empty: none
  bool verify = false;
  std::optional<Check> check;         // and nothing else
  std::string ab;                     // as given, "option=value"; empty: none
  std::optional<Variant> ab_variant;  // the variant with that option changed
  int pairs = 200;

  std::map<std::string, std::string> named;  // options that differ from their defaults: the cell's
  std::string planted;                       // as given; empty: none
  std::string flight_dir;                    // empty: no flight recorder
  bool check_numerics = false;
  int profiled_samples = 0;              // that a profiler is to capture
  std::string trace_file{};              // empty: no pass is traced
  int traced_samples = 0;                // by it
  std::string contention_file{};         // empty: no pass looks for contention
  int contention_pairs = 0;              // of it
  const nvtx::Domain* ranges = nullptr;  // of this process; StepWatch's
  std::optional<Fault> fault;            // none but to see a job fail
  BenchmarkFlags benchmark;
};

// What the options say and what follows from them. Throws usage errors; with --help or --models,
// prints that and returns nothing.
[[nodiscard]] std::optional<StepOptions> parse_step_options(int argc, const char* const* argv);

}  // namespace tandem::bench
