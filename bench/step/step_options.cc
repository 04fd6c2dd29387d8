// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <string_view>
#include <utility>

#include "bench/driver/choices.h"
#include "bench/driver/ranks_main.h"
#include "bench/driver/size_list.h"
#include "bench/step/model_table.h"
#include "bench/step/named_options.h"
#include "bench/step/replay_checks.h"
#include "bench/step/step_checks.h"
#include "bench/step/step_flags.h"
#include "bench/step/step_list.h"
#include "bench/step/step_variant.h"
#include "bench/workloads/workload_source.h"
#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/bootstrap.h"

namespace tandem::bench {
namespace {

constexpr std::array kChecks{Choice<Check>{"options", Check::kOptions},
                             Choice<Check>{"backend", Check::kBackend},
                             Choice<Check>{"model", Check::kModel}};

PeakRequest peak_of(const std::string& text) {
  if (text.empty()) return {};
  if (text == "measured") return {.is_measured = true};
  const double gflops = parse_number<double>(text).value_or(0);
  require(gflops > 0 && std::isfinite(gflops),
          fmt::format("--peak-gflops={}: use a speed above 0, in GFLOP/s, or measured", text));
  return {.gflops = gflops};
}

Launch launch_of(const StepFlags& flags, StrategyKind strategy) {
  const Launch usual = is_one_process(strategy) ? Launch::kThreads : Launch::kProcesses;
  if (flags.launch.empty()) return usual;
  const Launch launch = choose("--launch", flags.launch, kLaunches);
  require(launch == usual || strategy == StrategyKind::kIndependent,
          fmt::format("--launch={}: {} runs as {}; only independent runs as both", flags.launch,
                      to_string(strategy), to_string(usual)));
  return launch;
}

PlaceOptions place_of(const StepFlags& flags, StrategyKind strategy) {
  PlaceOptions place;
  place.launch = launch_of(flags, strategy);
  place.devices = flags.devices;
  place.backend = parse_backend(flags.backend);
  place.oversubscribe = flags.oversubscribe;
  if (!flags.device_memory.empty()) {
    for (const std::string& size : parts_of(flags.device_memory)) {
      place.device_memory.push_back(parse_bytes(size, "--device-memory"));
    }
  }
  choose_gpus(flags.gpus, place);
  if (!flags.link.empty()) place.link = parse_link(flags.link);
  place.core_gflops = flags.core_gflops;
  place.transport = parse_transport(flags.comm, "--comm");
  if (choose("--check-order", flags.check_order, kOnOff)) {
    require(place.transport != Transport::kAuto && place.transport != Transport::kSharedMemory,
            "--check-order does nothing but with --comm=mpi, gloo or nccl: leave it out");
    place.communicator.check_order = OrderCheck::kAlways;
  }
  set_patience(flags.failure, place.communicator);
  return place;
}

// The number of samples that hold `steps` at least.
int samples_with(int steps, const StepFlags& flags) {
  const int steps_per_sample = std::max(1, flags.free_running);
  return (steps + steps_per_sample - 1) / steps_per_sample;
}

// A profiler sees whole samples, so min_samples grows to hold all of them; a trace holds whole
// samples too.
void set_watched(const StepFlags& flags, StepOptions& options) {
  options.profiled_samples = samples_with(flags.profile_steps, flags);
  options.min_samples = std::max(options.min_samples, options.profiled_samples);
  options.trace_file = flags.trace;
  options.traced_samples = samples_with(flags.trace_steps, flags);
  options.contention_file = flags.contention;
  options.contention_pairs = flags.contention_pairs;
}

StepOptions options_of(const CLI::App& app, const StepFlags& flags) {
  StepOptions options;
  options.variant = variant_of(flags);
  check_devices(flags, options.variant.strategy);
  check_applicable(app, flags, options.variant.strategy);
  check_reducer(flags);
  check_watching(flags);
  check_counts(flags);
  check_profiled(app, flags);
  check_traced(app, flags);
  check_contention(app, flags, options.variant.strategy);
  options.place = place_of(flags, options.variant.strategy);
  check_replay(flags, options.variant, options.place.launch);
  options.place.control = options.variant.reducer.kind == ddp::ReducerKind::kHorovod;
  options.model = with_checksum(flags.model);
  options.free_running = flags.free_running;
  options.min_time = parse_duration(flags.min_time, "--min-time");
  options.min_samples = flags.min_samples;
  options.warmup_time = parse_duration(flags.warmup_time, "--warmup-time");
  options.warmup_steps = flags.warmup_steps;
  options.peak = peak_of(flags.peak_gflops);
  options.record_file = flags.record;
  options.workload_file = flags.write_workload;
  options.verify = flags.verify;
  if (!flags.check.empty()) options.check = choose("--check", flags.check, kChecks);
  options.pairs = flags.pairs;
  options.ab = flags.ab;
  options.planted = flags.plant;
  options.named = named_options(flags);
  options.flight_dir = flags.failure.flight_dir;
  set_watched(flags, options);
  options.check_numerics = choose("--check-numerics", flags.check_numerics, kOnOff);
  if (!flags.fault.empty()) {
    options.fault = parse_fault(flags.fault, flags.devices);
    check_fault(*options.fault, options.variant.strategy, options.place.launch, flags.devices);
  }
  if (!flags.ab.empty()) {
    const StepFlags changed = with_change(flags, flags.ab);
    check_reducer(changed);
    options.ab_variant = variant_of(changed);
    check_pair(flags, options.variant.strategy, options.ab_variant->strategy, options.place.launch);
    check_replay(changed, *options.ab_variant, options.place.launch);
  }
  return options;
}

// Takes two times under Google Benchmark's names.
void take_times(const CLI::App& app, std::vector<std::string>& benchmark_flags, StepFlags& flags) {
  const auto take = [&](const char* theirs, const char* ours, const char* count,
                        std::string& value) {
    const auto given = take_duration(benchmark_flags, theirs, count);
    if (!given) return;
    require(app.count(ours) == 0, fmt::format("{} and {} say the same: give one", theirs, ours));
    value = *given;
  };
  take("--benchmark_min_time", "--min-time", "--min-samples", flags.min_time);
  take("--benchmark_min_warmup_time", "--warmup-time", "--warmup-steps", flags.warmup_time);
}

// A job of processes has as many devices as the launcher started ranks, unless --devices is given.
void take_devices(const CLI::App& app, StepFlags& flags) {
  if (app.count("--devices") > 0) return;
  const StrategyKind strategy = choose("--strategy", flags.strategy, kStrategies);
  if (launch_of(flags, strategy) == Launch::kProcesses) flags.devices = announced_ranks();
}

StepOptions one_options(const CLI::App& app, StepFlags flags) {
  take_devices(app, flags);
  return options_of(app, flags);
}

// The options of the strategies to list that take all the given options; where no strategy does,
// throws the last strategy's reason.
StepOptions listed_options(const CLI::App& app, const StepFlags& flags) {
  std::optional<StepOptions> options;
  std::vector<StrategyKind> listed;
  std::optional<Error> refusal;
  for (const std::string& strategy : strategies_to_list(app, flags)) {
    StepFlags own = flags;
    own.strategy = strategy;
    own.batch_per_device = kListedBatch;
    if (strategy == "independent" && announced_ranks() > 1) own.launch = "processes";
    try {
      const StepOptions found = one_options(app, own);
      listed.push_back(found.variant.strategy);
      if (!options) options = found;
    } catch (const Error& error) {
      refusal.emplace(error);
    }
  }
  if (!options) throw Error(*refusal);
  if (listed.size() > 1) options->listed = listed;
  return *options;
}

void check_repetitions(const StepOptions& options) {
  if (options.ab_variant) {
    refuse_repetitions(options.benchmark,
                       "--ab takes its pairs in sets, each built anew: leave it out");
  }
  if (!options.record_file.empty()) {
    refuse_repetitions(options.benchmark,
                       "a record is of one launch, whose samples are one row: leave it or --record "
                       "out");
  }
}

}  // namespace

std::string to_string(StrategyKind kind) { return name_of(kind, kStrategies); }
std::string to_string(Launch launch) { return name_of(launch, kLaunches); }

std::optional<StepOptions> parse_step_options(int argc, const char* const* argv) {
  CLI::App app("Times one training step: one strategy, model, batch and number of devices.",
               "step_bench");
  StepFlags flags;
  declare(app, flags);
  std::vector<std::string> benchmark_flags;
  if (!parse_with_benchmark_flags(app, argc, argv, benchmark_flags)) return std::nullopt;
  if (flags.models) {
    std::cout << model_table(flags.model);
    return std::nullopt;
  }
  take_times(app, benchmark_flags, flags);
  StepOptions options =
      names_no_cell(app, flags) ? listed_options(app, flags) : one_options(app, flags);
  const int ranks = options.place.launch == Launch::kProcesses ? options.place.devices : 1;
  options.benchmark = read_benchmark_flags("step_bench", benchmark_flags, ranks);
  check_repetitions(options);
  options.benchmark.says_context = options.record_file.empty();  // the record holds the context
  return options;
}

}  // namespace tandem::bench
