// SPDX-License-Identifier: Apache-2.0
#include "bench/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <vector>

#include "bench/calibrate/machine_costs.h"
#include "bench/calibrate/size_times.h"
#include "bench/calibrate/step_times.h"
#include "bench/step/measured_peak.h"
#include "bench/step/workload_source.h"
#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/comm/nccl_module.h"
#include "common/results/files.h"
#include "common/results/machine_facts.h"
#include "common/runtime/registry.h"
#include "simulate/cost/calibration.h"

namespace tandem::bench {
namespace {

constexpr int kMostTeam = 8;  // devices whose threads and collectives are timed together

bool is_on_host(const Job& job) { return job.platform->backend() == Backend::kHost; }

// A device's kind, without its number: "AMD EPYC 7763, a core", "NVIDIA H200".
std::string device_kind(const Job& job, const results::MachineFacts& machine) {
  if (is_on_host(job)) return machine.cpu_model + ", a core";
  const std::string name = job.device->name();
  return name.substr(0, name.rfind(" (GPU "));
}

// The machine and the build of this process.
struct CalibrationRun {
  Job& job;
  const StepOptions& step;
  const CalibrationOptions& options;
  const std::vector<int>& cores;
};

CalibrationOrigin origin_of(const CalibrationRun& here) {
  const results::MachineFacts machine = results::gather_machine_facts();
  CalibrationOrigin origin;
  origin.fingerprint = fmt::format("{} cores of {}, {}", here.cores.size(), machine.cpu_model,
                                   device_kind(here.job, machine));
  origin.backend = to_string(here.job.platform->backend());
  origin.precision = name_of(here.step.variant.training.precision);
  origin.built_by = results::built_by();
  origin.built_from = results::built_from();
  origin.time = results::gather_context("step_bench").date;
  return origin;
}

void check_same(const std::string& file, std::string_view what, const std::string& theirs,
                const std::string& here) {
  if (theirs == here) return;
  fail(ErrorKind::kUsage,
       "--file={}: the file has times of another {}, '{}', and this is '{}': give another file",
       file, what, theirs, here);
}

// The file's content so far; nothing where there is no file yet.
std::optional<MachineCalibration> calibration_so_far(const CalibrationRun& at) {
  const std::string& file = at.options.file;
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return std::nullopt;
  MachineCalibration found = read_calibration(file);
  const CalibrationOrigin here = origin_of(at);
  check_same(file, "machine", found.origin.fingerprint, here.fingerprint);
  check_same(file, "back end", found.origin.backend, here.backend);
  check_same(file, "precision", found.origin.precision, here.precision);
  return found;
}

// The devices of this machine, some of them where there are many.
int devices_here(const CalibrationRun& here) {
  if (is_on_host(here.job)) return std::min(static_cast<int>(here.cores.size()), kMostTeam);
  PlatformOptions options;
  options.devices = kMostTeam;
  options.gpus = here.step.job.platform.gpus;
  return std::max(1, static_cast<int>(choose_backend(BackendChoice::kCuda, options).gpus.size()));
}

// Figures of which the description is made; the launch cost follows from the steps.
MachineFigures measured_machine(const CalibrationRun& here, const MachineCalibration& calibration) {
  Job& job = here.job;
  const Precision precision = here.step.variant.training.precision;
  const results::MachineFacts machine = results::gather_machine_facts();
  Device& device = *job.device;
  MachineFigures figures;
  figures.device = device_kind(job, machine);
  figures.name = fmt::format("calibrated {}", figures.device);
  figures.multiprocessors = device.multiprocessor_count();
  figures.memory = device.memory().capacity;
  figures.precision = is_on_host(job) ? "fp32" : name_of(precision);
  figures.flops =
      peak_flops(measure_products(device, is_on_host(job) ? Precision::kFp32 : precision));
  const MeasuredPoint& small = calibration.sizes.at("fill").front();
  const MeasuredPoint& large = calibration.sizes.at("copy").back();
  figures.least_time = small.seconds.front();
  figures.host_copies = time_host_copies(device);
  figures.memory_bandwidth = std::max(2 * static_cast<double>(large.bytes) / large.seconds.front(),
                                      figures.host_copies.bandwidth);
  return figures;
}

// Devices of this machine as a team, with memory shared evenly where they are cores.
std::unique_ptr<Platform> open_team(const CalibrationRun& here) {
  const int devices = devices_here(here);
  PlatformOptions options;
  options.devices = devices;
  options.gpus = here.step.job.platform.gpus;
  if (is_on_host(here.job)) {
    options.cores = here.cores;
    options.device_memory = {Bytes{here.job.device->memory().capacity.value / devices}};
  }
  return open_platform(here.job.platform->backend(), options);
}

// Adds the times beside others to those of the same sizes.
void add_beside(MeasuredOperations& to, const MeasuredOperations& together) {
  for (auto& [name, points] : to) {
    const auto found = together.find(name);
    if (found == together.end()) continue;
    const std::size_t both = std::min(points.size(), found->second.size());
    for (std::size_t i = 0; i < both; ++i) points[i].beside_others = found->second[i].seconds;
  }
}

// Without NCCL simulations take the times that the measured links give.
void measure_gpus_together(Platform& team, Precision precision, MachineFigures& figures,
                           MachineCalibration& calibration) {
  if (const NcclProbe nccl = probe_nccl(); !nccl.usable) {
    std::cout << fmt::format("collectives and contention are not measured: {}\n", nccl.trouble);
    return;
  }
  calibration.collectives = time_collectives(team);
  figures.contention = measure_contention_share(team, precision);
}

// Costs of several devices: threads, copies between two, collectives, and what devices do beside
// each other and beside collectives.
void measure_team(const CalibrationRun& here, Platform& team, MachineFigures& figures,
                  MachineCalibration& calibration) {
  figures.devices = team.device_count();
  figures.threads = time_threads(team);
  if (team.device_count() == 1) return;
  figures.peer_copies = time_peer_copies(team.device(0), team.device(1));
  figures.stream_wake = time_stream_wake(team.device(0), team.device(1));
  const Precision precision = here.step.variant.training.precision;
  if (!is_on_host(here.job)) return measure_gpus_together(team, precision, figures, calibration);
  calibration.collectives = time_collectives(team);
  figures.memory = team.device(0).memory().capacity;
  const auto together = on_each_device(
      team, [&](Bootstrap&, Device& device) { return time_sizes(device, precision); });
  add_beside(calibration.sizes, together.front());
}

// The cost of a call. On the host it is in the operations' times already: the calling thread and
// the device's worker share a core, so that one enqueues while the other computes nothing.
void set_launch(const Job& job, const CalibratedStep& times, MachineFigures& figures) {
  figures.launch = is_on_host(job) ? 0 : times.enqueue_seconds / times.calls;
  figures.launch_source = is_on_host(job)
                              ? "measured within the operations, with whose work it shares a core"
                              : fmt::format("measured: {} calls of a step", times.calls);
}

std::string line_of(const MeasuredBatch& batch, const std::string& model) {
  const double spread = (batch.upper_seconds - batch.lower_seconds) / batch.step_seconds;
  return fmt::format("{}, batch {}: a step takes {}, half of {} steps within {:.1f} %\n", model,
                     batch.batch, tandem::to_string(Seconds(batch.step_seconds)), batch.steps,
                     100 * spread);
}

void add_all(MeasuredOperations& to, const MeasuredOperations& more, std::int64_t batch) {
  for (const auto& [key, points] : more) {
    for (MeasuredPoint point : points) {
      const auto same = [&](const MeasuredPoint& old) {
        return old.flops == point.flops && old.bytes == point.bytes;
      };
      if (std::ranges::any_of(to[key], same)) continue;  // the step's own time counts
      point.batch = batch;
      to[key].push_back(point);
    }
  }
}

// Times the model at each batch, in ascending order.
class ModelCalibration {
 public:
  // `team`: devices of the machine that may share caches and memory.
  ModelCalibration(const CalibrationRun& here, Platform& team, MachineCalibration& calibration)
      : job_(here.job),
        team_(team),
        here_(here),
        calibration_(calibration),
        model_(make_model_for(here.step)) {
    check_runs_on(*model_, job_.platform->backend());
  }

  // `copies`: of a batch from the host. Returns the times of the smallest batch.
  CalibratedStep run(const CopyCosts& copies) {
    const std::string name = name_in_results(here_.step.model);
    const TimedDevice on{*job_.platform, *job_.device, copies.latency, copies.bandwidth,
                         is_on_host(job_) ? &team_ : nullptr};
    std::optional<CalibratedStep> first;
    for (const std::int64_t batch : here_.options.batches) {
      TrainingOptions training = here_.step.variant.training;
      training.global_batch = batch;
      CalibratedStep times = time_step(on, *model_, training);
      add_all(times.measured.operations,
              time_losses(*job_.device, *model_, batch, training.precision), batch);
      add_measured(calibration_.models[name], times.measured);
      std::cout << line_of(times.measured.batches.front(), name) << std::flush;
      if (!first) first = std::move(times);
    }
    return *first;
  }

 private:
  Job& job_;
  Platform& team_;
  const CalibrationRun& here_;
  MachineCalibration& calibration_;
  const std::unique_ptr<Model> model_;
};

}  // namespace

void write_calibration(Job& job, const StepOptions& step, const CalibrationOptions& options,
                       const std::vector<int>& cores) {
  const CalibrationRun here{job, step, options, cores};
  const Precision precision = step.variant.training.precision;
  std::optional<MachineCalibration> so_far = calibration_so_far(here);
  MachineCalibration calibration = so_far ? std::move(*so_far) : MachineCalibration{};
  const auto team = open_team(here);
  if (so_far) {
    const LinkDescription& link = calibration.hardware.node.host_link;
    ModelCalibration(here, *team, calibration)
        .run({Seconds(link.latency.value).count(), link.bandwidth.value});
  } else {
    calibration.sizes = time_sizes(*job.device, precision);
    MachineFigures figures = measured_machine(here, calibration);
    measure_team(here, *team, figures, calibration);
    const CalibratedStep times =
        ModelCalibration(here, *team, calibration).run(figures.host_copies);
    set_launch(job, times, figures);
    calibration.hardware_text = hardware_text(description_of(figures));
  }
  calibration.origin = origin_of(here);
  const std::string text = calibration_text(calibration);
  static_cast<void>(parse_calibration(text, options.file));  // figures that none has
  results::replace_file(options.file, text);
}

}  // namespace tandem::bench
