// SPDX-License-Identifier: Apache-2.0
#include "common/results/record_json.h"

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/gpu_json.h"
#include "common/results/json_lists.h"

namespace tandem::results {
namespace {

Json to_json(const Cell& cell) {
  return Json{{"strategy", cell.strategy}, {"launch", cell.launch},
              {"model", cell.model},       {"backend", cell.backend},
              {"devices", cell.devices},   {"global_batch", cell.global_batch},
              {"options", cell.options}};
}

Cell cell_from(const Json& json) {
  Cell cell;
  cell.strategy = required_value<std::string>(json, "strategy");
  cell.launch = required_value<std::string>(json, "launch");
  cell.model = required_value<std::string>(json, "model");
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

Json to_json(const DevicePhases& phases) {
  Json means = Json::object();
  for (const auto& [name, seconds] : phases.mean_seconds) means[name] = finite(seconds, name);
  return Json{{"device", phases.device},
              {"mean_seconds", means},
              {"span_seconds", finite(phases.span_seconds, "span_seconds")}};
}

DevicePhases phases_from(const Json& json) {
  DevicePhases phases;
  phases.device = value_or(json, "device", phases.device);
  phases.mean_seconds = value_or(json, "mean_seconds", phases.mean_seconds);
  phases.span_seconds = value_or(json, "span_seconds", phases.span_seconds);
  return phases;
}

Json to_json(const CollectiveRecord& collective) {
  Json means = Json::array();
  for (const double seconds : collective.mean_seconds) {
    means.push_back(finite(seconds, "collectives"));
  }
  return Json{{"bytes", collective.bytes},
              {"mean_seconds", means},
              {"least_seconds", finite(collective.least_seconds, "least_seconds")}};
}

CollectiveRecord collective_from(const Json& json) {
  return {.bytes = value_or<std::int64_t>(json, "bytes", 0),
          .mean_seconds = value_or(json, "mean_seconds", std::vector<double>{}),
          .least_seconds = value_or(json, "least_seconds", 0.0)};
}

Json to_json(const DeviceMemory& memory) {
  return Json{{"device", memory.device},
              {"capacity_bytes", memory.capacity_bytes},
              {"peak_bytes", memory.peak_bytes}};
}

DeviceMemory memory_from(const Json& json) {
  return {.device = value_or(json, "device", 0),
          .capacity_bytes = value_or<std::int64_t>(json, "capacity_bytes", 0),
          .peak_bytes = value_or<std::int64_t>(json, "peak_bytes", 0)};
}

Json to_json(const ModelFacts& model) {
  return Json{{"parameters", model.parameters},
              {"parameter_bytes", model.parameter_bytes},
              {"flops_per_sample", finite(model.flops_per_sample, "flops_per_sample")},
              {"operations_per_step", model.operations_per_step},
              {"optimizer_bytes_per_step", model.optimizer_bytes_per_step}};
}

ModelFacts model_from(const Json& json) {
  return {.parameters = value_or<std::int64_t>(json, "parameters", 0),
          .parameter_bytes = value_or<std::int64_t>(json, "parameter_bytes", 0),
          .flops_per_sample = value_or(json, "flops_per_sample", 0.0),
          .operations_per_step = value_or<std::int64_t>(json, "operations_per_step", 0),
          .optimizer_bytes_per_step = value_or<std::int64_t>(json, "optimizer_bytes_per_step", 0)};
}

Json samples_to_json(const std::vector<double>& seconds) {
  Json list = Json::array();
  for (const double value : seconds) list.push_back(finite(value, "step_seconds"));
  return list;
}

// A measured launch without positive samples would turn into NaN or infinity further on.
void check_samples(const LaunchRecord& record) {
  if (record.status != Status::kOk) return;
  if (record.step_seconds.empty()) fail(ErrorKind::kFailure, "a launch is ok, but has no samples");
  for (const double seconds : record.step_seconds) {
    if (!(seconds > 0) || !std::isfinite(seconds)) {
      fail(ErrorKind::kFailure, "field 'step_seconds' holds {}, which is no duration", seconds);
    }
  }
}

}  // namespace

Json to_json(const MachineFacts& machine) {
  return Json{{"host_name", machine.host_name},
              {"hosts", machine.hosts},
              {"cpu_model", machine.cpu_model},
              {"cores", machine.cores},
              {"memory_bytes", machine.memory_bytes},
              {"bound_cores", machine.bound_cores},
              {"page_bytes", machine.page_bytes},
              {"ping_pong_ns", finite(machine.ping_pong_ns, "ping_pong_ns")},
              {"kernel", machine.kernel},
              {"libraries", machine.libraries},
              {"variables", machine.variables},
              {"numa_nodes", machine.numa_nodes},
              {"huge_pages", machine.huge_pages},
              {"container", machine.container},
              {"slurm_job", machine.slurm_job}};
}

MachineFacts machine_from(const Json& json) {
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

Json to_json(const LaunchRecord& record) {
  return Json{
      {"cell", to_json(record.cell)},
      {"status", to_string(record.status)},
      {"reason", record.reason},
      {"stderr_tail", record.stderr_tail},
      {"launch_index", record.launch_index},
      {"mode", record.mode},
      {"precision", record.precision},
      {"oversubscribed", record.oversubscribed},
      {"warnings", record.warnings},
      {"modelled", record.modelled},
      {"planted", record.planted},
      {"devices_used", record.devices_used},
      {"dispatches_per_step", finite(record.dispatches_per_step, "dispatches_per_step")},
      {"link_lateness_seconds", finite(record.link_lateness_seconds, "link_lateness_seconds")},
      {"link_overshoot_seconds", finite(record.link_overshoot_seconds, "link_overshoot_seconds")},
      {"barrier_skew_seconds", finite(record.barrier_skew_seconds, "barrier_skew_seconds")},
      {"barrier_skew_uncertainty_seconds",
       finite(record.barrier_skew_uncertainty_seconds, "barrier_skew_uncertainty_seconds")},
      {"core_gflops", finite(record.core_gflops, "core_gflops")},
      {"peak_gflops", finite(record.peak_gflops, "peak_gflops")},
      {"first_step_seconds", finite(record.first_step_seconds, "first_step_seconds")},
      {"warmup_steps", record.warmup_steps},
      {"warmup_seconds", finite(record.warmup_seconds, "warmup_seconds")},
      {"step_seconds", samples_to_json(record.step_seconds)},
      {"phases", list_to_json(record.phases, to_json)},
      {"critical", to_json(record.critical)},
      {"remainder_seconds", finite(record.remainder_seconds, "remainder_seconds")},
      {"least_exposed_seconds", finite(record.least_exposed_seconds, "least_exposed_seconds")},
      {"least_compute_seconds", finite(record.least_compute_seconds, "least_compute_seconds")},
      {"collectives", list_to_json(record.collectives, to_json)},
      {"memory", list_to_json(record.memory, to_json)},
      {"gpus", list_to_json(record.gpus, to_json)},
      {"threads", list_to_json(record.threads, to_json)},
      {"resolved", record.resolved},
      {"bucket_bytes", record.bucket_bytes},
      {"model", to_json(record.model)},
      {"machine", to_json(record.machine)}};
}

LaunchRecord record_from(const Json& json) {
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
  record.critical = phases_from(value_or(json, "critical", Json::object()));
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
  record.model = model_from(value_or(json, "model", Json::object()));
  record.machine = machine_from(value_or(json, "machine", Json::object()));
  check_samples(record);
  return record;
}

}  // namespace tandem::results
