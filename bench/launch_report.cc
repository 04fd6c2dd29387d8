// SPDX-License-Identifier: Apache-2.0
#include "bench/launch_report.h"

#include <algorithm>

#include "common/base/units.h"
#include "common/comm/ping_pong.h"
#include "common/kernels/library_version.h"
#include "common/results/machine_facts.h"

namespace tandem::bench {
namespace {

double per_step(Nanoseconds total, int steps) { return Seconds(total).count() / steps; }

results::DevicePhases phases_of(const DeviceTimes& device) {
  results::DevicePhases phases{.device = device.device, .mean_seconds = {}, .span_seconds = 0};
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const Nanoseconds total = device.times.total[i];
    if (total.count() == 0) continue;
    phases.mean_seconds[std::string(kPhaseNames[i])] = per_step(total, device.times.steps);
  }
  phases.span_seconds = per_step(device.times.span, device.times.steps);
  return phases;
}

// What no phase accounts for: per sample, host step minus the span of the critical device - the
// root where there is one, else the slowest - and of that the mean.
double mean_remainder(const StepOptions& options, const Measurement& measurement) {
  double sum = 0;
  for (std::size_t sample = 0; sample < measurement.step_seconds.size(); ++sample) {
    double span = measurement.phases.front().step_spans[sample];
    if (!has_root(options.variant.strategy)) {
      for (const DeviceBooks& device : measurement.phases) {
        span = std::max(span, device.step_spans[sample]);
      }
    }
    sum += measurement.step_seconds[sample] - span;
  }
  return sum / static_cast<double>(measurement.step_seconds.size());
}

// What is no measurement of this machine, as the reader is told.
std::vector<std::string> modelled_in(const StepOptions& options, const Place& place) {
  std::vector<std::string> modelled;
  if (!place.link_notice.empty()) modelled.push_back(place.link_notice);
  const InterpreterOptions& interpreter = options.variant.training.interpreter;
  if (interpreter.dispatch_cost > Nanoseconds{0}) {
    modelled.push_back(
        fmt::format("dispatch cost {}", tandem::to_string(Seconds(interpreter.dispatch_cost))));
  }
  if (interpreter.lock == InterpreterLock::kOn) modelled.emplace_back("interpreter lock");
  return modelled;
}

results::LaunchRecord common_record(const StepOptions& options, const Place& place,
                                    const Model& model, const results::MachineFacts& machine) {
  results::LaunchRecord record;
  record.cell = cell_of(options, place.platform->backend());
  record.mode = options.free_running > 0 ? "free-running" : "synchronous";
  record.oversubscribed = place.oversubscribed;
  const std::int64_t parameters = model.layout().parameter_count();
  record.model = {.parameters = parameters,
                  .parameter_bytes = parameters * static_cast<std::int64_t>(sizeof(float)),
                  .flops_per_sample = model.flops_per_sample()};
  record.modelled = modelled_in(options, place);
  record.planted = options.planted;
  record.core_gflops = place.core_gflops;
  record.machine = machine;
  return record;
}

}  // namespace

results::Cell cell_of(const StepOptions& options, Backend backend) {
  return {.strategy = to_string(options.variant.strategy),
          .launch = to_string(options.place.launch),
          .model = options.model,
          .backend = to_string(backend),
          .devices = options.place.devices,
          .global_batch = options.variant.training.global_batch,
          .options = options.named};
}

results::MachineFacts machine_of(const Place& place) {
  results::MachineFacts facts = results::gather_machine_facts();
  facts.cores = place.usable_cores;
  facts.bound_cores = place.cores;
  if (place.nodes.nodes() > 1) facts.hosts = place.nodes.hosts;
  facts.libraries["kernels"] = kernel_library_version();
  if (place.communicator->rank() == 0 && first_two_share_a_node(place)) {
    facts.ping_pong_ns = ping_pong_ns(place.cores[0], place.cores[1]);
  }
  place.communicator->barrier();
  return facts;
}

results::LaunchRecord record_of(const StepOptions& options, const Place& place, const Model& model,
                                const Measurement& measurement,
                                const results::MachineFacts& machine) {
  results::LaunchRecord record = common_record(options, place, model, machine);
  record.first_step_seconds = measurement.warmup.first_step.count();
  record.warmup_steps = measurement.warmup.steps;
  record.warmup_seconds = measurement.warmup.time.count();
  record.step_seconds = measurement.step_seconds;
  for (const DeviceBooks& device : measurement.phases) {
    record.phases.push_back(phases_of(device.all));
  }
  if (!record.phases.empty()) record.remainder_seconds = mean_remainder(options, measurement);
  for (std::size_t i = 0; i < measurement.memory.size(); ++i) {
    const MemoryUse& use = measurement.memory[i];
    record.memory.push_back({static_cast<int>(i), use.capacity.value, use.peak.value});
  }
  record.warnings = measurement.warnings;
  record.devices_used = measurement.devices_used;
  record.dispatches_per_step = measurement.dispatches_per_step;
  record.link_lateness_seconds = measurement.lateness_seconds;
  record.link_overshoot_seconds = measurement.overshoot_seconds;
  record.barrier_skew_seconds = measurement.barrier_skew.median.count();
  record.barrier_skew_uncertainty_seconds = measurement.barrier_skew.uncertainty.count();
  for (const Bytes size : measurement.bucket_sizes) record.bucket_bytes.push_back(size.value);
  return record;
}

results::LaunchRecord out_of_memory_record(const StepOptions& options, const Place& place,
                                           const Model& model, const Error& error,
                                           const results::MachineFacts& machine) {
  results::LaunchRecord record = common_record(options, place, model, machine);
  record.status = results::Status::kSkipped;
  record.reason = fmt::format("out of memory: {}", error.what());
  return record;
}

}  // namespace tandem::bench
