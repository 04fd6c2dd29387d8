// SPDX-License-Identifier: Apache-2.0
#include "bench/step_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <string_view>
#include <utility>

#include "bench/bucket_limits.h"
#include "bench/choices.h"
#include "bench/comma_list.h"
#include "bench/model_table.h"
#include "bench/ranks_main.h"
#include "bench/replay_checks.h"
#include "bench/step_checks.h"
#include "bench/step_flags.h"
#include "bench/step_list.h"
#include "bench/workloads/workload_source.h"
#include "common/base/error.h"
#include "common/base/numbers.h"
#include "common/base/units.h"
#include "common/comm/launcher.h"

namespace tandem::bench {
namespace {

constexpr std::array kChecks{Choice<Check>{"options", Check::kOptions},
                             Choice<Check>{"backend", Check::kBackend},
                             Choice<Check>{"model", Check::kModel}};

// Keeps every product of it with a width or a number of devices within 64 bits.
constexpr std::int64_t kMostSamples = std::int64_t{1} << 32;

std::int64_t global_batch(const StepFlags& flags) {
  require((flags.batch == 0) != (flags.batch_per_device == 0) || flags.batch < 0 ||
              flags.batch_per_device < 0,
          "give a batch of at least 1 with exactly one of --batch (over all devices) and "
          "--batch-per-device");
  for (const std::int64_t given : {flags.batch, flags.batch_per_device}) {
    require(given <= kMostSamples,
            fmt::format("a batch of {} is more than any machine holds: use {} or less", given,
                        kMostSamples));
  }
  const std::int64_t batch =
      flags.batch != 0 ? flags.batch : flags.batch_per_device * flags.devices;
  require(batch >= 1, fmt::format("a batch of {} holds no sample: use 1 or more", batch));
  return batch;
}

int device_index(const char* flag, const std::string& text) {
  const int index = parse_number<int>(text).value_or(-1);
  require(index >= 0,
          fmt::format("{}: '{}' is no device: use numbers from 0, such as 1,0", flag, text));
  return index;
}

// "powersgd:4", or by name.
CompressionOptions compression_of(const StepFlags& flags) {
  constexpr std::string_view kPowerSgd = "powersgd:";
  CompressionOptions options;
  if (!flags.compress.starts_with("powersgd")) {
    options.compression = choose("--compress (or powersgd:RANK)", flags.compress, kCompressions);
    return options;
  }
  const std::string_view given = flags.compress;
  const int rank = given.starts_with(kPowerSgd)
                       ? parse_number<int>(given.substr(kPowerSgd.size())).value_or(0)
                       : 0;
  require(rank >= 1,
          fmt::format("--compress={}: give PowerSGD a rank of 1 or more, such as powersgd:4",
                      flags.compress));
  require(flags.powersgd_start >= 2,
          "--powersgd-start: use 2 or more; buckets are made anew after the first step");
  options.compression = Compression::kPowerSgd;
  options.power_sgd.rank = rank;
  options.power_sgd.start_step = flags.powersgd_start;
  options.power_sgd.seed = flags.seed;
  return options;
}

HorovodOptions horovod_of(const StepFlags& flags) {
  HorovodOptions options;
  options.deadline = deadline_of(flags.failure);
  options.cycle = parse_duration(flags.cycle_time, "--cycle-time");
  require(options.cycle > Nanoseconds{0},
          "--cycle-time=0: the cycles would spin on the device's core: use 10us or more");
  require(options.cycle <= std::chrono::seconds(1),
          fmt::format("--cycle-time={}: gradients would wait that long: use 1s or less",
                      flags.cycle_time));
  if (flags.fusion_mb.empty()) return options;
  options.fusion_threshold =
      flags.fusion_mb == "0" ? Bytes{0} : bucket_size("--fusion-mb", flags.fusion_mb);
  return options;
}

ReducerOptions reducer_of(const StepFlags& flags) {
  ReducerOptions reducer;
  reducer.kind = choose("--reducer", flags.reducer, kReducers);
  reducer.graph = choose("--static-graph", flags.static_graph, kGraphs);
  reducer.join = choose("--join", flags.join, kJoins);
  reducer.micro_batches = flags.accumulate;
  reducer.compression = compression_of(flags);
  reducer.horovod = horovod_of(flags);
  reducer.grads = choose("--grads", flags.grads, kGrads);
  reducer.overlap = choose("--overlap", flags.overlap, kOverlaps);
  const BucketLimits limits = bucket_limits(flags.bucket_mb, flags.first_bucket_mb);
  reducer.bucket_cap = limits.rest;
  reducer.first_bucket_cap = limits.first;
  return reducer;
}

dp::DataParallelOptions dp_of(const StepFlags& flags) {
  dp::DataParallelOptions options;
  if (!flags.device_ids.empty()) {
    for (const std::string& id : parts_of(flags.device_ids)) {
      options.device_ids.push_back(device_index("--device-ids", id));
    }
  }
  if (!flags.output_device.empty()) {
    options.output_device = device_index("--output-device", flags.output_device);
  }
  options.threads = choose("--threads", flags.threads, kThreadKinds);
  options.replicate = choose("--replicate", flags.replicate, kGroupings);
  options.broadcast = choose("--broadcast", flags.broadcast, kOrders);
  options.loss = choose("--loss", flags.loss, kLossPlaces);
  options.reduce = choose("--reduce", flags.reduce, kOrders);
  options.deadline = deadline_of(flags.failure);
  return options;
}

InterpreterOptions interpreter_of(const StepFlags& flags) {
  InterpreterOptions options;
  options.lock = choose("--interpreter-lock", flags.interpreter_lock, kLocks);
  if (!flags.dispatch_cost.empty()) {
    options.dispatch_cost = parse_duration(flags.dispatch_cost, "--dispatch-cost");
    require(options.dispatch_cost <= std::chrono::milliseconds(10),
            fmt::format("--dispatch-cost={}: a call takes microseconds: use 10ms or less",
                        flags.dispatch_cost));
  }
  require(options.lock == InterpreterLock::kOff || options.dispatch_cost > Nanoseconds{0},
          "--interpreter-lock does nothing without --dispatch-cost: give the cost of a call, such "
          "as --dispatch-cost=8us");
  return options;
}

// In a phase of `device`, which the step waits for.
std::optional<PlantedDelay> planted_by(const std::string& text, int device) {
  if (text.empty()) return std::nullopt;
  const std::size_t colon = text.find(':');
  require(colon != std::string::npos,
          fmt::format("--plant={}: give a phase and a time, such as loss:2ms", text));
  const std::string name = text.substr(0, colon);
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    if (kPhaseNames[i] != name) continue;
    const Nanoseconds delay = parse_duration(text.substr(colon + 1), "--plant");
    require(delay <= std::chrono::seconds(1),
            fmt::format("--plant={}: every step would wait that long: use 1s or less", text));
    return PlantedDelay{.phase = static_cast<Phase>(i), .delay = delay, .device = device};
  }
  fail(ErrorKind::kUsage, "--plant: '{}' is no phase: use one of {}", name,
       fmt::join(kPhaseNames, ", "));
}

constexpr const char* kScatter = "scatter";

int root_of(const StepFlags& flags) {
  return flags.device_ids.empty()
             ? 0
             : device_index("--device-ids", parts_of(flags.device_ids).front());
}

TrainingOptions training_of(const StepFlags& flags) {
  TrainingOptions training;
  training.global_batch = global_batch(flags);
  training.seed = flags.seed;
  training.optimizer.kind = choose("--optimizer", flags.optimizer, kOptimizers);
  training.precision = parse_precision(flags.precision, "--precision");
  if (flags.input != kScatter) training.input = choose("--input", flags.input, kInputs);
  training.phases = {choose("--phases", flags.phases, kPhaseTimings),
                     planted_by(flags.plant, root_of(flags))};
  training.interpreter = interpreter_of(flags);
  training.replay = choose("--cuda-graph", flags.cuda_graph, kReplays);
  return training;
}

PeakRequest peak_of(const std::string& text) {
  if (text.empty()) return {};
  if (text == "measured") return {.is_measured = true};
  const double gflops = parse_number<double>(text).value_or(0);
  require(gflops > 0 && std::isfinite(gflops),
          fmt::format("--peak-gflops={}: use a speed above 0, in GFLOP/s, or measured", text));
  return {.gflops = gflops};
}

Variant variant_of(const StepFlags& flags) {
  Variant variant;
  variant.strategy = choose("--strategy", flags.strategy, kStrategies);
  variant.training = training_of(flags);
  variant.dp = dp_of(flags);
  variant.reducer = reducer_of(flags);
  if (flags.input == kScatter) variant.shards = dp::Shards::kScattered;
  require(
      flags.input != kScatter || variant.strategy == StrategyKind::kDpAllReduce,
      fmt::format("--input=scatter is an option of dp-allreduce; {} has host, pageable or device",
                  flags.strategy));
  return variant;
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

// The default of --device-ids, spelt out.
bool names_all_in_order(const StepFlags& flags) {
  std::string all;
  for (int i = 0; i < flags.devices; ++i) all += fmt::format("{}{}", i == 0 ? "" : ",", i);
  return flags.device_ids == all;
}

// Options that differ from their defaults, by flag name and as given.
std::map<std::string, std::string> named_options(const StepFlags& flags) {
  const StepFlags usual;
  std::map<std::string, std::string> named;
  const auto name = [&](const char* flag, std::string StepFlags::*text) {
    if (flags.*text != usual.*text) named[flag] = flags.*text;
  };
  name("input", &StepFlags::input);
  name("optimizer", &StepFlags::optimizer);
  name("precision", &StepFlags::precision);
  name("cuda-graph", &StepFlags::cuda_graph);
  if (!names_all_in_order(flags)) name("device-ids", &StepFlags::device_ids);
  if (flags.output_device != std::to_string(root_of(flags))) {
    name("output-device", &StepFlags::output_device);
  }
  name("threads", &StepFlags::threads);
  name("replicate", &StepFlags::replicate);
  name("broadcast", &StepFlags::broadcast);
  name("loss", &StepFlags::loss);
  name("reduce", &StepFlags::reduce);
  name("grads", &StepFlags::grads);
  name("overlap", &StepFlags::overlap);
  name("bucket-mb", &StepFlags::bucket_mb);
  name("first-bucket-mb", &StepFlags::first_bucket_mb);
  if (flags.accumulate > 1) named["accumulate"] = std::to_string(flags.accumulate);
  name("static-graph", &StepFlags::static_graph);
  name("compress", &StepFlags::compress);
  if (flags.powersgd_start != usual.powersgd_start) {
    named["powersgd-start"] = std::to_string(flags.powersgd_start);
  }
  name("join", &StepFlags::join);
  name("reducer", &StepFlags::reducer);
  name("cycle-time", &StepFlags::cycle_time);
  name("fusion-mb", &StepFlags::fusion_mb);
  name("comm", &StepFlags::comm);
  name("check-order", &StepFlags::check_order);
  name("link", &StepFlags::link);
  name("dispatch-cost", &StepFlags::dispatch_cost);
  name("interpreter-lock", &StepFlags::interpreter_lock);
  name("plant", &StepFlags::plant);
  name("phases", &StepFlags::phases);
  name("check-numerics", &StepFlags::check_numerics);
  name("fault", &StepFlags::fault);
  name("device-memory", &StepFlags::device_memory);
  if (flags.gpus.p2p != usual.gpus.p2p) named["p2p"] = flags.gpus.p2p;
  if (flags.gpus.bind != usual.gpus.bind) named["bind"] = flags.gpus.bind;
  if (flags.seed != usual.seed) named["seed"] = std::to_string(flags.seed);
  if (flags.free_running > 0) named["free-running"] = std::to_string(flags.free_running);
  return named;
}

// A profiler sees whole samples, and there are as many at least.
void set_profiled(const StepFlags& flags, StepOptions& options) {
  const int steps_per_sample = std::max(1, flags.free_running);
  options.profiled_samples = (flags.profile_steps + steps_per_sample - 1) / steps_per_sample;
  options.min_samples = std::max(options.min_samples, options.profiled_samples);
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
  options.place = place_of(flags, options.variant.strategy);
  check_replay(flags, options.variant, options.place.launch);
  options.place.control = options.variant.reducer.kind == ReducerKind::kHorovod;
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
  set_profiled(flags, options);
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

// Google Benchmark's names for two of the times.
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

// Of processes there are as many as the launcher started, unless --devices says otherwise.
void take_devices(const CLI::App& app, StepFlags& flags) {
  if (app.count("--devices") > 0) return;
  const StrategyKind strategy = choose("--strategy", flags.strategy, kStrategies);
  if (launch_of(flags, strategy) == Launch::kProcesses) flags.devices = announced_ranks();
}

StepOptions one_options(const CLI::App& app, StepFlags flags) {
  take_devices(app, flags);
  return options_of(app, flags);
}

// Of those, the ones that take all the options given; where none does, the last one's reason.
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
  options.benchmark.says_context = options.record_file.empty();  // the record says it
  return options;
}

}  // namespace tandem::bench
