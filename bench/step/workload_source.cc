// SPDX-License-Identifier: Apache-2.0
#include "bench/step/workload_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "bench/driver/google_benchmark.h"
#include "bench/driver/sampler.h"
#include "bench/job/core_speed.h"
#include "bench/workloads/calibration.h"
#include "bench/workloads/measured_workload.h"
#include "bench/workloads/timed_passes.h"
#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/model/replay.h"
#include "common/model/replay_plan.h"
#include "common/model/workload_file.h"
#include "common/model/zoo.h"
#include "common/results/files.h"
#include "common/runtime/simulated/simulated_platform.h"

namespace tandem::bench {

namespace {

void check_precision(const Workload& workload, Precision precision) {
  if (!workload.timing || workload.timing->precision == name_of(precision)) return;
  fail(ErrorKind::kUsage,
       "workload '{}' was measured in {}, which says nothing of {}: use --precision={}, "
       "or measure it anew",
       workload.name, workload.timing->precision, name_of(precision), workload.timing->precision);
}

std::string summary_of(const Calibration& calibration) {
  std::string text;
  for (const CalibratedBatch& batch : calibration.batches) {
    text += fmt::format("batch {}: forward and backward take {}, their replay {} ({:+.1f} %)\n",
                        batch.batch, tandem::to_string(Seconds(batch.wanted_seconds)),
                        tandem::to_string(Seconds(batch.replayed_seconds)),
                        100 * (batch.replayed_seconds / batch.wanted_seconds - 1));
  }
  return text;
}

// Whether a workload's seconds are simulated as they are, without products that take them.
bool has_simulated_seconds(const StepOptions& options, const Workload& workload) {
  return workload.timing && options.job.backend == BackendChoice::kSimulated &&
         options.job.calibration.empty();
}

// "A100 SXM4 80GB" of "NVIDIA A100-SXM4-80GB".
std::string plain_name(std::string_view device) {
  constexpr std::string_view kMaker = "NVIDIA ";
  if (device.starts_with(kMaker)) device.remove_prefix(kMaker.size());
  std::string plain(device);
  std::ranges::replace(plain, '-', ' ');
  return plain;
}

// Refuses a workload that is not calibrated: calibrated anew in every launch, launches of one cell
// would run different products.
void check_calibrated(const Workload& workload, const std::string& name) {
  if (!workload.timing || workload.is_calibrated()) return;
  fail(ErrorKind::kUsage,
       "{} has seconds, and no products that take these on this machine: calibrate it once, with "
       "step_bench --model={} --batch=N --write-workload=FILE.json, and use that file",
       name, name.substr(0, name.rfind('#')));
}

constexpr Seconds kLongest{3600};
constexpr double kSlowestCore = 1e9;  // FLOP/s; quick work at this speed needs no timing
constexpr double kFastestGpu = 5e15;  // FLOP/s: twice bf16 of the fastest GPUs on sale
constexpr double kBf16OfACore = 16;   // speed of bf16 over fp32, with AMX

// The FLOPs of a step on the device with the most samples, which is the first device.
double flops_of_a_step(const StepOptions& options, const Workload& workload) {
  double flops = 0;
  int parts = options.variant.reducer.micro_batches;
  for (const Shard& part : shards_of(options)) {
    if (parts-- == 0) break;
    flops += planned_flops(workload, part.count);
  }
  return flops;
}

double core_speed(Bootstrap& bootstrap, const Job& job) {
  if (job.core_gflops > 0) return job.core_gflops * 1e9;
  const double mine = bootstrap.rank() == 0 ? measured_core_flops(job.cores.front()) : 0;
  return root_value(bootstrap, mine);
}

}  // namespace

std::optional<Workload> read_workload(const std::string& model) {
  const auto file = checksummed_file(model);
  if (!file) return std::nullopt;
  return parse_workload(text_of(*file, "--model"), "workload " + file->path);
}

void check_model(const StepOptions& options) {
  const auto workload = read_workload(options.model);
  if (!workload) {
    static_cast<void>(make_model_for(options));
    return;
  }
  check_precision(*workload, options.variant.training.precision);
  if (!options.workload_file.empty()) return;
  if (!has_simulated_seconds(options, *workload)) check_calibrated(*workload, options.model);
  for (const Shard& shard : shards_of(options)) check_batch(*workload, shard.count);
}

std::unique_ptr<Model> make_model_for(const StepOptions& options) {
  const auto workload = read_workload(options.model);
  std::unique_ptr<Model> model;
  if (!workload) {
    model = make_model(options.model);
  } else if (has_simulated_seconds(options, *workload)) {
    model = std::make_unique<Replay>(with_a_row_per_sample(*workload));
  } else {
    model = std::make_unique<Replay>(*workload);
  }
  if (!model->needs_images() && options.variant.training.images != ImageOptions{}) {
    fail(ErrorKind::kUsage,
         "--channels-last and --conv-fp32 are of models of images, and {} is none: leave them out",
         model->name());
  }
  return model;
}

void take_workload_times(StepOptions& options) {
  const auto workload = read_workload(options.model);
  if (!workload || !has_simulated_seconds(options, *workload)) return;
  const std::string& device = workload->timing->device;
  const std::string gpu = simulated::described_hardware(options.job.platform).gpu.name;
  const bool is_of_gpu = plain_name(device) == plain_name(gpu);
  if (!is_of_gpu && !options.single_step) {
    fail(ErrorKind::kUsage,
         "workload '{}' has seconds of '{}', which say nothing of {}: give --single-step=TIME, the "
         "step of one such GPU, of which they are then shares, or a file that has FLOPs alone",
         workload->name, device, gpu);
  }
  auto times = std::make_shared<MachineCalibration>();
  times->models[options.job.model] = {times_of_passes(with_a_row_per_sample(*workload),
                                                      options.variant.training.precision,
                                                      options.variant.training.optimizer)};
  options.job.workload_times = std::move(times);
  options.workload_origin = fmt::format("layers in seconds of {}{}", device,
                                        is_of_gpu ? "" : ", which are taken as shares of a step");
}

void write_workload(Job& job, const StepOptions& options) {
  check_writable(options.workload_file, "--write-workload");
  if (options.variant.training.images != ImageOptions{}) {
    fail(ErrorKind::kUsage,
         "--write-workload times the layers of images as they are by default: leave "
         "--channels-last and --conv-fp32 out");
  }
  const Precision precision = options.variant.training.precision;
  auto workload = read_workload(options.model);
  if (workload && !workload->timing) {
    fail(ErrorKind::kUsage,
         "--write-workload: {} gives its layers by their FLOPs, which need no calibration: "
         "leave it out",
         options.model);
  }
  if (!workload) {
    const auto model = make_model(options.model);
    check_runs_on(*model, job.platform->backend());
    workload =
        measure_workload(*job.platform, *job.device, *model,
                         batches_to_measure(options.variant.training.global_batch), precision);
  }
  const Calibration found = calibrate(*job.platform, *job.device, *workload, precision);
  results::replace_file(options.workload_file, tandem::to_text(found.workload));
  std::cout << fmt::format("{}: {}, {}\n{}", options.workload_file,
                           count_text(std::ssize(found.workload.layers), "layer"),
                           count_text(std::ssize(found.workload.tensors), "tensor"),
                           summary_of(found))
            << std::flush;
}

void check_duration(Bootstrap& bootstrap, const Job& job, const StepOptions& options,
                    const Workload& workload) {
  const double step = flops_of_a_step(options, workload);
  const int steps = options.warmup_steps + options.min_samples;
  const bool is_host = job.platform->backend() == Backend::kHost;
  if (step * steps <= kLongest.count() * (is_host ? kSlowestCore : kFastestGpu)) return;
  double speed = kFastestGpu;
  if (is_host) {
    const bool is_bf16 = options.variant.training.precision == Precision::kBf16;
    speed = core_speed(bootstrap, job) * (is_bf16 ? kBf16OfACore : 1);
  }
  const Seconds least(step * steps / speed);
  if (least <= kLongest) return;
  fail(ErrorKind::kUsage,
       "workload '{}': {} steps of {:.3g} FLOPs on a device take {:.1f} h or more at {:.3g} "
       "GFLOP/s, and this stops at {:.0f} h: use a smaller batch or a smaller model",
       workload.name, steps, step, least.count() / 3600, speed * 1e-9, kLongest.count() / 3600);
}

}  // namespace tandem::bench
