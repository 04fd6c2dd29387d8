// SPDX-License-Identifier: Apache-2.0
#include "common/results/record_json.h"

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/input_file.h"
#include "common/results/gpu_json.h"
#include "common/results/json_writer.h"

namespace tandem::results {
namespace {

void write(JsonWriter& writer, std::string_view key, const Cell& cell) {
  writer.open(key, '{');
  writer.value("strategy", cell.strategy);
  writer.value("launch", cell.launch);
  writer.value("model", cell.model);
  writer.value("backend", cell.backend);
  writer.value("devices", cell.devices);
  writer.value("global_batch", cell.global_batch);
  writer.value("options", cell.options);
  writer.close();
}

Cell cell_from(const JsonValue& json) {
  Cell cell;
  cell.strategy = required_value<std::string>(json, "strategy");
  cell.launch = required_value<std::string>(json, "launch");
  // Older records hold a file's folder in the model's name.
  cell.model = name_in_results(required_value<std::string>(json, "model"));
  cell.backend = required_value<std::string>(json, "backend");
  cell.devices = required_value<int>(json, "devices");
  cell.global_batch = required_value<std::int64_t>(json, "global_batch");
  cell.options = value_or(json, "options", cell.options);
  if (cell.devices < 1) fail_value("devices", required(json, "devices"));
  if (cell.global_batch < 0) fail_value("global_batch", required(json, "global_batch"));
  return cell;
}

Status status_from(const std::string& text) {
  for (const Status status : {Status::kOk, Status::kSkipped, Status::kFailed}) {
    if (text == to_string(status)) return status;
  }
  fail(ErrorKind::kFailure, "field 'status' is {}: it must be ok, skipped or failed",
       shown(Json(text)));
}

void write(JsonWriter& writer, std::string_view key, const DevicePhases& phases) {
  writer.open(key, '{');
  writer.value("device", phases.device);
  writer.finite_value("mean_seconds", phases.mean_seconds);
  writer.finite_value("span_seconds", phases.span_seconds);
  writer.close();
}

DevicePhases phases_from(const JsonValue& json) {
  DevicePhases phases;
  phases.device = value_or(json, "device", phases.device);
  phases.mean_seconds = value_or(json, "mean_seconds", phases.mean_seconds);
  phases.span_seconds = value_or(json, "span_seconds", phases.span_seconds);
  return phases;
}

void write(JsonWriter& writer, std::string_view key, const CollectiveRecord& collective) {
  writer.open(key, '{');
  writer.value("bytes", collective.bytes);
  writer.finite_value("mean_seconds", collective.mean_seconds);
  writer.finite_value("least_seconds", collective.least_seconds);
  writer.close();
}

CollectiveRecord collective_from(const JsonValue& json) {
  return {.bytes = value_or<std::int64_t>(json, "bytes", 0),
          .mean_seconds = value_or(json, "mean_seconds", std::vector<double>{}),
          .least_seconds = value_or(json, "least_seconds", 0.0)};
}

void write(JsonWriter& writer, std::string_view key, const DeviceMemory& memory) {
  writer.open(key, '{');
  writer.value("device", memory.device);
  writer.value("capacity_bytes", memory.capacity_bytes);
  writer.value("peak_bytes", memory.peak_bytes);
  writer.close();
}

DeviceMemory memory_from(const JsonValue& json) {
  return {.device = value_or(json, "device", 0),
          .capacity_bytes = value_or<std::int64_t>(json, "capacity_bytes", 0),
          .peak_bytes = value_or<std::int64_t>(json, "peak_bytes", 0)};
}

void write(JsonWriter& writer, std::string_view key, const ModelFacts& model) {
  writer.open(key, '{');
  writer.value("parameters", model.parameters);
  writer.value("parameter_bytes", model.parameter_bytes);
  writer.finite_value("flops_per_sample", model.flops_per_sample);
  writer.value("operations_per_step", model.operations_per_step);
  writer.value("optimizer_bytes_per_step", model.optimizer_bytes_per_step);
  writer.close();
}

ModelFacts model_from(const JsonValue& json) {
  return {.parameters = value_or<std::int64_t>(json, "parameters", 0),
          .parameter_bytes = value_or<std::int64_t>(json, "parameter_bytes", 0),
          .flops_per_sample = value_or(json, "flops_per_sample", 0.0),
          .operations_per_step = value_or<std::int64_t>(json, "operations_per_step", 0),
          .optimizer_bytes_per_step = value_or<std::int64_t>(json, "optimizer_bytes_per_step", 0)};
}

void write(JsonWriter& writer, std::string_view key, const MachineFacts& machine) {
  writer.open(key, '{');
  writer.value("host_name", machine.host_name);
  writer.value("hosts", machine.hosts);
  writer.value("cpu_model", machine.cpu_model);
  writer.value("cores", machine.cores);
  writer.value("memory_bytes", machine.memory_bytes);
  writer.value("bound_cores", machine.bound_cores);
  writer.value("page_bytes", machine.page_bytes);
  writer.finite_value("ping_pong_ns", machine.ping_pong_ns);
  writer.value("kernel", machine.kernel);
  writer.value("libraries", machine.libraries);
  writer.value("variables", machine.variables);
  writer.value("numa_nodes", machine.numa_nodes);
  writer.value("huge_pages", machine.huge_pages);
  writer.value("container", machine.container);
  writer.value("slurm_job", machine.slurm_job);
  writer.close();
}

MachineFacts machine_from(const JsonValue& json) {
  MachineFacts machine;
  machine.host_name = value_or(json, "host_name", machine.host_name);
  machine.hosts = value_or(json, "hosts", machine.hosts);
  machine.cpu_model = value_or(json, "cpu_model", machine.cpu_model);
  machine.cores = value_or(json, "cores", machine.cores);
  machine.memory_bytes = value_or(json, "memory_bytes", machine.memory_bytes);
  machine.bound_cores = value_or(json, "bound_cores", machine.bound_cores);
  machine.page_bytes = value_or(json, "page_bytes", machine.page_bytes);
  machine.ping_pong_ns = value_or(json, "ping_pong_ns", machine.ping_pong_ns);
  machine.kernel = value_or(json, "kernel", machine.kernel);
  machine.libraries = value_or(json, "libraries", machine.libraries);
  machine.variables = value_or(json, "variables", machine.variables);
  machine.numa_nodes = value_or(json, "numa_nodes", machine.numa_nodes);
  machine.huge_pages = value_or(json, "huge_pages", machine.huge_pages);
  machine.container = value_or(json, "container", machine.container);
  machine.slurm_job = value_or(json, "slurm_job", machine.slurm_job);
  return machine;
}

// The longest time, some 30 years: a longer one was not measured, and its square may overflow.
constexpr double kLongest = 1e9;

[[noreturn]] void fail_time(std::string_view field, double seconds) {
  fail(ErrorKind::kFailure, "field '{}' holds {}, which is no duration", field, seconds);
}

// The time may be negative, since some fields are differences.
void check_time(std::string_view field, double seconds) {
  if (!(std::abs(seconds) <= kLongest)) fail_time(field, seconds);
}

void check_phases(std::string_view field, const DevicePhases& phases) {
  check_time(field, phases.span_seconds);
  for (const auto& [name, seconds] : phases.mean_seconds) check_time(field, seconds);
}

// A measured launch without positive samples would turn into NaN or infinity further on.
void check_samples(const LaunchRecord& record) {
  if (record.status != Status::kOk) return;
  if (record.step_seconds.empty()) fail(ErrorKind::kFailure, "a launch is ok, but has no samples");
  for (const double seconds : record.step_seconds) {
    if (!(seconds > 0)) fail_time("step_seconds", seconds);
    check_time("step_seconds", seconds);
  }
}

void check_times(const LaunchRecord& record) {
  check_samples(record);
  check_time("first_step_seconds", record.first_step_seconds);
  check_time("warmup_seconds", record.warmup_seconds);
  check_time("remainder_seconds", record.remainder_seconds);
  check_time("least_exposed_seconds", record.least_exposed_seconds);
  check_time("least_compute_seconds", record.least_compute_seconds);
  check_time("link_lateness_seconds", record.link_lateness_seconds);
  check_time("link_overshoot_seconds", record.link_overshoot_seconds);
  check_time("barrier_skew_seconds", record.barrier_skew_seconds);
  check_time("barrier_skew_uncertainty_seconds", record.barrier_skew_uncertainty_seconds);
  check_phases("critical", record.critical);
  for (const DevicePhases& phases : record.phases) check_phases("phases", phases);
  for (const CollectiveRecord& collective : record.collectives) {
    check_time("least_seconds", collective.least_seconds);
    for (const double seconds : collective.mean_seconds) check_time("mean_seconds", seconds);
  }
}

}  // namespace

void write(JsonWriter& writer, std::string_view key, const LaunchRecord& record) {
  writer.open(key, '{');
  write(writer, "cell", record.cell);
  writer.value("status", to_string(record.status));
  writer.value("reason", record.reason);
  writer.value("stderr_tail", record.stderr_tail);
  writer.value("launch_index", record.launch_index);
  writer.value("mode", record.mode);
  writer.value("precision", record.precision);
  writer.value("oversubscribed", record.oversubscribed);
  writer.value("warnings", record.warnings);
  writer.value("modelled", record.modelled);
  writer.value("planted", record.planted);
  writer.value("devices_used", record.devices_used);
  writer.finite_value("dispatches_per_step", record.dispatches_per_step);
  writer.finite_value("link_lateness_seconds", record.link_lateness_seconds);
  writer.finite_value("link_overshoot_seconds", record.link_overshoot_seconds);
  writer.finite_value("barrier_skew_seconds", record.barrier_skew_seconds);
  writer.finite_value("barrier_skew_uncertainty_seconds", record.barrier_skew_uncertainty_seconds);
  writer.finite_value("core_gflops", record.core_gflops);
  writer.finite_value("peak_gflops", record.peak_gflops);
  writer.finite_value("first_step_seconds", record.first_step_seconds);
  writer.value("warmup_steps", record.warmup_steps);
  writer.finite_value("warmup_seconds", record.warmup_seconds);
  writer.finite_value("step_seconds", record.step_seconds);
  write_list(writer, "phases", record.phases, write);
  write(writer, "critical", record.critical);
  writer.finite_value("remainder_seconds", record.remainder_seconds);
  writer.finite_value("least_exposed_seconds", record.least_exposed_seconds);
  writer.finite_value("least_compute_seconds", record.least_compute_seconds);
  write_list(writer, "collectives", record.collectives, write);
  write_list(writer, "memory", record.memory, write);
  write_list(writer, "gpus", record.gpus, write);
  write_list(writer, "threads", record.threads, write);
  writer.value("resolved", record.resolved);
  writer.value("bucket_bytes", record.bucket_bytes);
  write(writer, "model", record.model);
  write(writer, "machine", record.machine);
  writer.close();
}

LaunchRecord record_from(const JsonValue& json) {
  LaunchRecord record;
  record.cell = cell_from(required(json, "cell"));
  record.status = status_from(required_value<std::string>(json, "status"));
  record.reason = value_or(json, "reason", record.reason);
  record.stderr_tail = value_or(json, "stderr_tail", record.stderr_tail);
  record.launch_index = value_or(json, "launch_index", record.launch_index);
  if (record.launch_index < 0) fail_value("launch_index", required(json, "launch_index"));
  record.mode = value_or(json, "mode", record.mode);
  record.precision = value_or(json, "precision", record.precision);
  record.oversubscribed = value_or(json, "oversubscribed", record.oversubscribed);
  record.warnings = value_or(json, "warnings", record.warnings);
  record.modelled = value_or(json, "modelled", record.modelled);
  record.planted = value_or(json, "planted", record.planted);
  record.devices_used = value_or(json, "devices_used", record.devices_used);
  record.dispatches_per_step = value_or(json, "dispatches_per_step", record.dispatches_per_step);
  record.link_lateness_seconds =
      value_or(json, "link_lateness_seconds", record.link_lateness_seconds);
  record.link_overshoot_seconds =
      value_or(json, "link_overshoot_seconds", record.link_overshoot_seconds);
  record.barrier_skew_seconds = value_or(json, "barrier_skew_seconds", record.barrier_skew_seconds);
  record.barrier_skew_uncertainty_seconds =
      value_or(json, "barrier_skew_uncertainty_seconds", record.barrier_skew_uncertainty_seconds);
  record.core_gflops = value_or(json, "core_gflops", record.core_gflops);
  record.peak_gflops = value_or(json, "peak_gflops", record.peak_gflops);
  record.first_step_seconds = value_or(json, "first_step_seconds", record.first_step_seconds);
  record.warmup_steps = value_or(json, "warmup_steps", record.warmup_steps);
  record.warmup_seconds = value_or(json, "warmup_seconds", record.warmup_seconds);
  record.step_seconds = value_or(json, "step_seconds", record.step_seconds);
  record.phases = list_from<DevicePhases>(json, "phases", phases_from);
  record.remainder_seconds = value_or(json, "remainder_seconds", record.remainder_seconds);
  record.critical = object_from(json, "critical", phases_from);
  record.least_exposed_seconds =
      value_or(json, "least_exposed_seconds", record.least_exposed_seconds);
  record.least_compute_seconds =
      value_or(json, "least_compute_seconds", record.least_compute_seconds);
  record.collectives = list_from<CollectiveRecord>(json, "collectives", collective_from);
  record.memory = list_from<DeviceMemory>(json, "memory", memory_from);
  record.gpus = list_from<GpuRecord>(json, "gpus", gpu_from);
  record.threads = list_from<ThreadPlace>(json, "threads", thread_from);
  record.resolved = value_or(json, "resolved", record.resolved);
  record.bucket_bytes = value_or(json, "bucket_bytes", record.bucket_bytes);
  record.model = object_from(json, "model", model_from);
  record.machine = object_from(json, "machine", machine_from);
  check_times(record);
  return record;
}

}  // namespace tandem::results
