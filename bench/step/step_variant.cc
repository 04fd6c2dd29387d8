// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_variant.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/driver/choices.h"
#include "bench/driver/size_list.h"
#include "bench/step/bucket_limits.h"
#include "bench/step/step_checks.h"
#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem::bench {
namespace {

// The limit keeps every product of a sample count with a width or a number of devices within 64
// bits.
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

// The compression by name, or "powersgd:4" with its rank.
ddp::CompressionOptions compression_of(const StepFlags& flags) {
  constexpr std::string_view kPowerSgd = "powersgd:";
  ddp::CompressionOptions options;
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
  options.compression = ddp::Compression::kPowerSgd;
  options.power_sgd.rank = rank;
  options.power_sgd.start_step = flags.powersgd_start;
  options.power_sgd.seed = flags.seed;
  return options;
}

ddp::HorovodOptions horovod_of(const StepFlags& flags) {
  ddp::HorovodOptions options;
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

ddp::ReducerOptions reducer_of(const StepFlags& flags) {
  ddp::ReducerOptions reducer;
  reducer.kind = choose("--reducer", flags.reducer, kReducers);
  reducer.graph = choose("--static-graph", flags.static_graph, kGraphs);
  reducer.join = choose("--join", flags.join, kJoins);
  reducer.micro_batches = flags.accumulate;
  reducer.compression = compression_of(flags);
  reducer.horovod = horovod_of(flags);
  reducer.grads = choose("--grads", flags.grads, kGrads);
  reducer.overlap = choose("--overlap", flags.overlap, kOverlaps);
  const ddp::BucketLimits limits = bucket_limits(flags.bucket_mb, flags.first_bucket_mb);
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

// The delay that `text` plants in a phase of `device`, which the step waits for.
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

}  // namespace

int root_of(const StepFlags& flags) {
  return flags.device_ids.empty()
             ? 0
             : device_index("--device-ids", parts_of(flags.device_ids).front());
}

Variant variant_of(const StepFlags& flags) {
  Variant variant;
  variant.strategy = choose("--strategy", flags.strategy, kStrategies);
  variant.training = training_of(flags);
  variant.dp = dp_of(flags);
  variant.reducer = reducer_of(flags);
  if (flags.input == kScatter) variant.shards = ddp::Shards::kScattered;
  require(
      flags.input != kScatter || variant.strategy == StrategyKind::kDpAllReduce,
      fmt::format("--input=scatter is an option of dp-allreduce; {} has host, pageable or device",
                  flags.strategy));
  return variant;
}

}  // namespace tandem::bench
