// SPDX-License-Identifier: Apache-2.0
#include "bench/step/workload_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "bench/step/step_work.h"
#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/base/units.h"
#include "common/model/replay.h"
#include "common/model/workload_file.h"
#include "common/model/zoo.h"
#include "simulate/engine/simulated_platform.h"

namespace tandem::bench {

namespace {

void check_precision(const Workload& workload, Precision precision) {
  if (workload.timing->precision == name_of(precision)) return;
  fail(ErrorKind::kUsage,
       "workload '{}' was measured in {}, which says nothing of {}: use --precision={}, "
       "or measure it anew",
       workload.name, workload.timing->precision, name_of(precision), workload.timing->precision);
}

// Whether a workload's seconds are simulated as they are.
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

// The workload as real devices train it, and simulated ones by their description: by its FLOPs.
Workload by_flops(Workload workload, const std::string& model) {
  if (!workload.timing) return workload;
  const auto has_flops = [](const WorkloadLayer& layer) {
    return layer.forward.flops.has_value() && layer.backward.flops.has_value();
  };
  if (!std::ranges::all_of(workload.layers, has_flops)) {
    fail(ErrorKind::kUsage,
         "{} has seconds of layers, which only simulated devices take: give it the FLOPs of each "
         "pass as well, or use --backend=simulated without --calibration",
         model);
  }
  workload.timing.reset();
  return workload;
}

// The seconds of every product of forward and backward, in the order in which a step has them.
class SecondsInOrder {
 public:
  SecondsInOrder(const Workload& workload, std::size_t batch) {
    const std::vector<ReplayLayer> plan = plan_replay(workload, workload.timing->batches.at(batch));
    for (std::size_t i = 0; i < plan.size(); ++i) {
      add(workload.layers[i].forward.seconds.at(batch), plan[i].forward);
    }
    for (std::size_t i = plan.size(); i-- > 0;) {
      add(workload.layers[i].backward.seconds.at(batch), plan[i].backward);
    }
  }

  [[nodiscard]] double next() { return seconds_.at(next_++); }

 private:
  void add(double seconds, const ReplayPass& pass) {
    const auto products = static_cast<double>(pass.rows.size());
    seconds_.insert(seconds_.end(), pass.rows.size(), seconds / products);
  }

  std::vector<double> seconds_;
  std::size_t next_ = 0;
};

bool is_of_a_pass(const StepOperation& operation) { return operation.name.starts_with("linear_"); }

bool is_product(const StepOperation& operation) {
  static_assert(kLeastProductWidth == 16);
  return operation.key.starts_with("linear_forward 16x16,");
}

void add_batch(const Workload& workload, std::size_t index,
               const std::vector<StepOperation>& operations, MeasuredModel& to) {
  const std::int64_t batch = workload.timing->batches.at(index);
  SecondsInOrder products(workload, index);
  for (const StepOperation& operation : operations) {
    if (!is_of_a_pass(operation)) continue;
    std::vector<MeasuredPoint>& points = to.operations[operation.key];
    const auto is_alike = [&](const MeasuredPoint& point) {
      return std::tuple(point.batch, point.flops, point.bytes) ==
             std::tuple(batch, operation.work.flops, operation.work.moved.value);
    };
    auto found = std::ranges::find_if(points, is_alike);
    if (found == points.end()) {
      points.push_back(
          {.batch = batch, .flops = operation.work.flops, .bytes = operation.work.moved.value});
      found = std::prev(points.end());
    }
    found->seconds.push_back(is_product(operation) ? products.next() : 0);
  }
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
  if (!has_simulated_seconds(options, *workload)) {
    static_cast<void>(by_flops(*workload, options.model));
    return;
  }
  check_precision(*workload, options.variant.training.precision);
  for (const Shard& shard : shards_of(options)) check_batch(*workload, shard.count);
}

std::unique_ptr<Model> make_model_for(const StepOptions& options) {
  const auto workload = read_workload(options.model);
  std::unique_ptr<Model> model;
  if (!workload) {
    model = make_model(options.model);
  } else if (has_simulated_seconds(options, *workload)) {
    model = std::make_unique<Replay>(*workload);
  } else {
    model = std::make_unique<Replay>(by_flops(*workload, options.model));
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
  times->models[options.job.model] = {times_of_passes(*workload, options.variant.training.precision,
                                                      options.variant.training.optimizer)};
  options.job.workload_times = std::move(times);
  options.workload_origin = fmt::format("layers in seconds of {}{}", device,
                                        is_of_gpu ? "" : ", which are taken as shares of a step");
}

MeasuredModel times_of_passes(const Workload& workload, Precision precision,
                              const OptimizerOptions& optimizer) {
  const Replay replay(workload);
  MeasuredModel times;
  for (std::size_t i = 0; i < workload.timing->batches.size(); ++i) {
    const std::int64_t batch = workload.timing->batches[i];
    add_batch(workload, i, list_step(replay, batch, precision, optimizer), times);
  }
  return times;
}

}  // namespace tandem::bench
