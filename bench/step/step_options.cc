// SPDX-License-Identifier: Apache-2.0
#include "bench/step/step_options.h"

#include <algorithm>
#include <utility>

#include "common/base/checksummed_file.h"
#include "common/options/rules.h"
#include "simulate/catalogue/catalogue.h"

namespace tandem::bench {
namespace {

using options::Values;

// One way to train, as `values` say.
Variant variant_of(const Values& values) {
  Variant variant;
  variant.strategy = values.strategy();
  variant.training = training_options(values);
  variant.dp = dp::data_parallel_options(values);
  variant.reducer = ddp::reducer_options(values);
  if (values.is("input", "scatter")) variant.shards = ddp::Shards::kScattered;
  return variant;
}

// The number of samples that hold `steps` at least.
int samples_with(int steps, const StepOptions& options) {
  return (steps + options.steps_per_sample() - 1) / options.steps_per_sample();
}

// The entries that a simulated job needs in its calibration.
void set_calibration(const Values& values, StepOptions& options) {
  options.job.calibration = values.text("calibration");
  options.job.model = name_in_results(options.model);
  options.job.batch = shards_of(options).front().count;
  options.job.precision = name_of(options.variant.training.precision);
  if (!values.is_given("calibration")) return;
  options.named["calibration"] =
      name_in_results(with_checksum(options.job.calibration, "--calibration"));
}

// A profiler sees whole samples.
void set_timing(const Values& values, StepOptions& options) {
  options.free_running = values.count("free-running");
  const Nanoseconds warmup_time = values.duration("warmup-time");
  if (values.is_given("warmup-time")) options.warmup_time = warmup_time;
  if (options.job.backend == BackendChoice::kSimulated) options.warmup_time = Nanoseconds{0};
  options.warmup_steps = values.count("warmup-steps");
  options.profiled_samples = samples_with(values.count("profile-steps"), options);
}

void set_debugging(const Values& values, StepOptions& options) {
  options.planted = values.text("plant");
  const std::string fault = values.text("fault");
  if (values.is_given("fault")) options.fault = parse_fault(fault, options.job.devices);
}

}  // namespace

StepOptions step_options(const Values& values) {
  StepOptions options;
  options.job = job_options(values);
  options.variant = variant_of(values);
  options.job.has_root = options::traits_of(options.variant.strategy).has_root();
  options.model = with_checksum(values.text("model"), "--model");
  options.named = values.named();
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
  set_debugging(values, options);
  return options;
}

// Samples grow to hold all steps that a profiler sees. Simulated steps are alike once buckets are
// rebuilt: a few steps of warm-up and one sample say all, and no time has to pass.
SamplingOptions sampling_options(const Values& values, const StepOptions& step) {
  SamplingOptions options{
      .min_time = values.duration("min-time"),
      .min_samples = std::max(values.count("min-samples"), step.profiled_samples),
      .peak = {.is_measured = values.text("peak-gflops") == "measured",
               .gflops = values.speed("peak-gflops")},
      .record_file = values.text("record")};
  if (step.job.backend != BackendChoice::kSimulated) return options;
  options.min_time = Nanoseconds{0};
  if (!values.is_given("min-samples")) options.min_samples = 1;
  return options;
}

PairOptions pair_options(const Values& values) {
  return {.change = values.text("ab"),
          .variant = variant_of(options::with_change(values)),
          .pairs = values.count("pairs")};
}

TraceOptions trace_options(const Values& values, const StepOptions& step) {
  return {.file = values.text("file"), .samples = samples_with(values.count("steps"), step)};
}

CalibrationOptions calibration_options(const Values& values, const StepOptions& step) {
  CalibrationOptions options{.file = values.text("file")};
  for (const int batch : values.devices("batches")) {
    if (batch < 1) {
      fail(ErrorKind::kUsage, "--batches={}: a batch of {} holds no sample: use 1 or more",
           values.text("batches"), batch);
    }
    options.batches.push_back(batch);
  }
  if (options.batches.empty()) options.batches = {step.variant.training.global_batch};
  std::ranges::sort(options.batches);
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
