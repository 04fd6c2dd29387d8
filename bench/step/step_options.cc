// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/step/workload_source.h"
#include "common/base/checksummed_file.h"
#include "common/options/rules.h"
#include "simulate/catalogue/catalogue.h"

namespace tandem::bench {
namespace {

using options::Values;

// One way to train, as `values` say, in `job`.
Variant variant_of(const Values& values, const JobOptions& job) {
  Variant variant;
  variant.strategy = values.strategy();
  variant.training = training_options(values);
  variant.dp = dp::data_parallel_options(values);
  variant.reducer = ddp::reducer_options(values);
  variant.reducer.horovod.deadline = job.communicator.deadline;
  if (values.is("input", "scatter")) variant.shards = ddp::Shards::kScattered;
  ddp::check_replayable(variant.training, variant.reducer);
  return variant;
}

// The number of samples that hold `steps` at least.
int samples_with(int steps, const StepOptions& options) {
  return (steps + options.steps_per_sample() - 1) / options.steps_per_sample();
}

// A profiler sees whole samples, so min_samples grows to hold all of them; a trace holds whole
// samples too.
void set_timing(const Values& values, StepOptions& options) {
  options.free_running = values.count("free-running");
  options.min_time = values.duration("min-time");
  const Nanoseconds warmup_time = values.duration("warmup-time");
  if (values.is_given("warmup-time")) options.warmup_time = warmup_time;
  options.warmup_steps = values.count("warmup-steps");
  options.peak = {.is_measured = values.text("peak-gflops") == "measured",
                  .gflops = values.speed("peak-gflops")};
  options.profiled_samples = samples_with(values.count("profile-steps"), options);
  options.min_samples = std::max(values.count("min-samples"), options.profiled_samples);
  options.trace_file = values.text("trace");
  options.traced_samples = samples_with(values.count("trace-steps"), options);
  options.contention_file = values.text("contention");
  options.contention_pairs = values.count("contention-pairs");
  options.record_file = values.text("record");
  options.calibrated_file = values.text("calibrate");
}

void set_calibration(const Values& values, StepOptions& options) {
  for (const int batch : values.devices("calibrate-batches")) {
    if (batch < 1) {
      fail(ErrorKind::kUsage,
           "--calibrate-batches={}: a batch of {} holds no sample: use 1 or more",
           values.text("calibrate-batches"), batch);
    }
    options.calibrated_batches.push_back(batch);
  }
  if (options.calibrated_batches.empty()) {
    options.calibrated_batches = {options.variant.training.global_batch};
  }
  std::ranges::sort(options.calibrated_batches);
  options.job.calibration = values.text("calibration");
  options.job.model = name_in_results(options.model);
  options.job.batch = shards_of(options).front().count;
  options.job.precision = name_of(options.variant.training.precision);
  if (!values.is_given("calibration")) return;
  options.named["calibration"] =
      name_in_results(with_checksum(options.job.calibration, "--calibration"));
}

// Simulated steps are alike once buckets are rebuilt: a few steps of warm-up and one sample say
// all, and no time has to pass.
void set_simulated_timing(const Values& values, StepOptions& options) {
  if (options.job.backend != BackendChoice::kSimulated) return;
  options.min_time = Nanoseconds{0};
  options.warmup_time = Nanoseconds{0};
  if (!values.is_given("min-samples")) options.min_samples = 1;
}

void set_pair(const Values& values, StepOptions& options) {
  options.ab = values.text("ab");
  options.pairs = values.count("pairs");
  if (!values.is_given("ab")) return;
  options.ab_variant = variant_of(options::with_change(values), options.job);
}

void set_debugging(const Values& values, StepOptions& options) {
  options.verify = values.is_on("verify");
  if (values.is_given("check")) {
    options.check = values.pick("check", {Check::kOptions, Check::kBackend, Check::kModel});
  }
  options.planted = values.text("plant");
  options.flight_dir = values.text("flight-dir");
  options.check_numerics = values.is_on("check-numerics");
  if (!values.is_given("fault")) return;
  options.fault = parse_fault(values.text("fault"), options.job.devices);
}

// Ranks share whether an option that writes a file was given, and not the name of the file.
std::string shared_lines(const Values& values) {
  std::string lines;
  for (const options::Option& option : options::kOptions) {
    if (option.is(options::kPerRank)) continue;
    lines += fmt::format("--{}={}\n", option.name, values.in_force(option));
  }
  for (const options::Name file : {options::Name("trace"), options::Name("contention")}) {
    lines += fmt::format("{}={}\n", file.flag(), values.is_given(file) ? "yes" : "no");
  }
  return lines;
}

}  // namespace

StepOptions step_options(const Values& values) {
  StepOptions options;
  options.job = job_options(values);
  options.variant = variant_of(values, options.job);
  const auto traits = options::traits_of(options.variant.strategy);
  options.job.has_root = traits.has_root();
  options.job.exchanges = traits.algorithm != options::Algorithm::kNone;
  options.job.control = options.variant.reducer.kind == ddp::ReducerKind::kHorovod;
  options.model = with_checksum(values.text("model"), "--model");
  options.named = values.named();
  options.shared = shared_lines(values);
  if (values.is_given("hardware")) {
    const std::string& asked = options.job.platform.hardware;
    options.named["hardware"] = is_hardware_file(asked)
                                    ? name_in_results(with_checksum(asked, "--hardware"))
                                    : with_figures(asked, "--hardware");
  }
  const Nanoseconds single_step = values.duration("single-step");
  if (values.is_given("single-step")) options.single_step = single_step;
  set_calibration(values, options);
  set_timing(values, options);
  set_simulated_timing(values, options);
  set_debugging(values, options);
  set_pair(values, options);
  return options;
}

WarmupLimits brief_warmup(const StepOptions& options) {
  constexpr Nanoseconds kUsual = std::chrono::milliseconds(200);
  return {.steps = options.warmup_steps, .time = options.warmup_time.value_or(kUsual)};
}

WarmupLimits warmup_limits(const StepOptions& options, Backend backend,
                           std::function<bool()> is_steady) {
  WarmupLimits limits = brief_warmup(options);
  if (backend != Backend::kCuda || options.warmup_time) return limits;
  limits.time = std::chrono::seconds(2);
  limits.is_steady = std::move(is_steady);
  limits.cap = std::chrono::seconds(10);
  return limits;
}

std::vector<Shard> shards_of(const StepOptions& options) {
  const auto named = static_cast<int>(options.variant.dp.device_ids.size());
  const int devices = named > 0 ? named : options.job.devices;
  std::vector<Shard> shards;
  for (const Shard& share : chunk_batch(options.variant.training.global_batch, devices)) {
    for (const Shard& part : chunk_batch(share.count, options.variant.reducer.micro_batches)) {
      shards.push_back({.first = share.first + part.first, .count = part.count});
    }
  }
  return shards;
}

}  // namespace tandem::bench
