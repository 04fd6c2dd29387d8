// SPDX-License-Identifier: Apache-2.0
//
// Private to results: the fields of each record in journals and documents, in the order in which
// they are written, and the version of them all.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "common/json/fields.h"
#include "common/results/document.h"
#include "common/results/launch_record.h"

namespace tandem::results {

// The schema version of the journal and of the key `tandem` in results.json. Additions raise the
// minor number; renaming or removing a field raises the major number.
inline constexpr std::string_view kSchemaVersion = "2.0.0";

// Throws a failure that names `source` where the text is no version, or has another major number.
void check_schema_version(std::string_view version, std::string_view source);

inline constexpr FieldRule kRequired{.required = true};
// Seconds. The longest time is some 30 years: a longer one was not measured, and its square may
// overflow. A time may be negative, since some fields are differences.
inline constexpr FieldRule kTime{.range = {.least = -1e9, .most = 1e9}};
// How many devices an entry is of. Readers list each, so a count has an end.
inline constexpr FieldRule kDeviceCount{.range = {.least = 1, .most = 1 << 20}};

constexpr std::array<std::string_view, 3> json_names(Status) { return kStatusNames; }

constexpr auto json_fields(const Cell*) {
  return std::tuple(
      field("strategy", &Cell::strategy, kRequired), field("launch", &Cell::launch, kRequired),
      field("model", &Cell::model, kRequired), field("backend", &Cell::backend, kRequired),
      field("devices", &Cell::devices, {.required = true, .range = {.least = 1}}),
      field("global_batch", &Cell::global_batch, {.required = true, .range = {.least = 0}}),
      field("options", &Cell::options));
}

constexpr auto json_fields(const DevicePhases*) {
  return std::tuple(field("device", &DevicePhases::device),
                    field("count", &DevicePhases::count, kDeviceCount),
                    field("mean_seconds", &DevicePhases::mean_seconds, kTime),
                    field("span_seconds", &DevicePhases::span_seconds, kTime));
}

constexpr auto json_fields(const HostPart*) {
  return std::tuple(field("part", &HostPart::part), field("thread", &HostPart::thread),
                    field("per_step", &HostPart::per_step),
                    field("wall_seconds", &HostPart::wall_seconds, kTime),
                    field("cpu_seconds", &HostPart::cpu_seconds, kTime),
                    field("run_delay_seconds", &HostPart::run_delay_seconds, kTime));
}

constexpr auto json_fields(const HostThreads*) {
  return std::tuple(field("kind", &HostThreads::kind), field("threads", &HostThreads::threads),
                    field("cpu_seconds", &HostThreads::cpu_seconds, kTime),
                    field("run_delay_seconds", &HostThreads::run_delay_seconds, kTime));
}

constexpr auto json_fields(const HostWork*) {
  return std::tuple(field("steps", &HostWork::steps), field("parts", &HostWork::parts),
                    field("threads", &HostWork::threads), field("modules", &HostWork::modules),
                    field("parameters", &HostWork::parameters),
                    field("buffers", &HostWork::buffers));
}

constexpr auto json_fields(const CollectiveRecord*) {
  return std::tuple(field("bytes", &CollectiveRecord::bytes),
                    field("mean_seconds", &CollectiveRecord::mean_seconds, kTime),
                    field("least_seconds", &CollectiveRecord::least_seconds, kTime));
}

constexpr auto json_fields(const DeviceMemory*) {
  return std::tuple(field("device", &DeviceMemory::device),
                    field("count", &DeviceMemory::count, kDeviceCount),
                    field("capacity_bytes", &DeviceMemory::capacity_bytes),
                    field("peak_bytes", &DeviceMemory::peak_bytes));
}

constexpr auto json_fields(const GpuReading*) {
  return std::tuple(field("sm_mhz", &GpuReading::sm_mhz),
                    field("memory_mhz", &GpuReading::memory_mhz),
                    field("watts", &GpuReading::watts), field("celsius", &GpuReading::celsius),
                    field("slowed_by", &GpuReading::slowed_by));
}

constexpr auto json_fields(const GpuPeer*) {
  return std::tuple(field("device", &GpuPeer::device), field("path", &GpuPeer::path),
                    field("peer_access", &GpuPeer::peer_access),
                    field("nvlinks", &GpuPeer::nvlinks));
}

constexpr auto json_fields(const GpuRecord*) {
  return std::tuple(
      field("device", &GpuRecord::device), field("hardware", &GpuRecord::hardware),
      field("name", &GpuRecord::name), field("pci", &GpuRecord::pci),
      field("driver", &GpuRecord::driver), field("compute_mode", &GpuRecord::compute_mode),
      field("memory_bytes", &GpuRecord::memory_bytes), field("numa_node", &GpuRecord::numa_node),
      field("mig", &GpuRecord::mig), field("nvlinks", &GpuRecord::nvlinks),
      field("processes", &GpuRecord::processes), field("peers", &GpuRecord::peers),
      field("before", &GpuRecord::before), field("after", &GpuRecord::after),
      field("watched_ms", &GpuRecord::watched_ms), field("held_down_ms", &GpuRecord::held_down_ms),
      field("joules", &GpuRecord::joules), field("clock_drift", &GpuRecord::clock_drift));
}

constexpr auto json_fields(const ThreadPlace*) {
  return std::tuple(field("device", &ThreadPlace::device), field("phases", &ThreadPlace::phases),
                    field("cpus", &ThreadPlace::cpus),
                    field("numa_nodes", &ThreadPlace::numa_nodes));
}

constexpr auto json_fields(const TakenTime*) {
  using T = TakenTime;
  return std::tuple(field("window_seconds", &T::window_seconds, kTime),
                    field("run_delay_seconds", &T::run_delay_seconds, kTime),
                    field("steal_seconds", &T::steal_seconds, kTime),
                    field("throttled_seconds", &T::throttled_seconds, kTime),
                    field("involuntary_switches", &T::involuntary_switches),
                    field("major_faults", &T::major_faults), field("cpu_mhz", &T::cpu_mhz));
}

constexpr auto json_fields(const ModelFacts*) {
  return std::tuple(field("parameters", &ModelFacts::parameters),
                    field("parameter_bytes", &ModelFacts::parameter_bytes),
                    field("flops_per_sample", &ModelFacts::flops_per_sample),
                    field("operations_per_step", &ModelFacts::operations_per_step),
                    field("optimizer_bytes_per_step", &ModelFacts::optimizer_bytes_per_step));
}

constexpr auto json_fields(const MachineFacts*) {
  return std::tuple(
      field("host_name", &MachineFacts::host_name), field("hosts", &MachineFacts::hosts),
      field("cpu_model", &MachineFacts::cpu_model), field("cores", &MachineFacts::cores),
      field("memory_bytes", &MachineFacts::memory_bytes),
      field("bound_cores", &MachineFacts::bound_cores),
      field("page_bytes", &MachineFacts::page_bytes),
      field("ping_pong_ns", &MachineFacts::ping_pong_ns), field("kernel", &MachineFacts::kernel),
      field("libraries", &MachineFacts::libraries), field("variables", &MachineFacts::variables),
      field("numa_nodes", &MachineFacts::numa_nodes),
      field("huge_pages", &MachineFacts::huge_pages), field("container", &MachineFacts::container),
      field("slurm_job", &MachineFacts::slurm_job));
}

constexpr auto json_fields(const LaunchRecord*) {
  using R = LaunchRecord;
  return std::tuple(
      field("cell", &R::cell, kRequired), field("status", &R::status, kRequired),
      field("reason", &R::reason), field("stderr_tail", &R::stderr_tail),
      field("launch_index", &R::launch_index, {.range = {.least = 0}}), field("mode", &R::mode),
      field("precision", &R::precision), field("oversubscribed", &R::oversubscribed),
      field("warnings", &R::warnings), field("modelled", &R::modelled),
      field("rests_on", &R::rests_on, {.range = {.least = 0, .most = 1}}),
      field("planted", &R::planted), field("devices_used", &R::devices_used),
      field("dispatches_per_step", &R::dispatches_per_step),
      field("barrier_skew_seconds", &R::barrier_skew_seconds, kTime),
      field("barrier_skew_uncertainty_seconds", &R::barrier_skew_uncertainty_seconds, kTime),
      field("peak_gflops", &R::peak_gflops),
      field("first_step_seconds", &R::first_step_seconds, kTime),
      field("warmup_steps", &R::warmup_steps), field("warmup_seconds", &R::warmup_seconds, kTime),
      field("step_seconds", &R::step_seconds), field("phases", &R::phases),
      field("critical", &R::critical), field("remainder_seconds", &R::remainder_seconds, kTime),
      field("least_exposed_seconds", &R::least_exposed_seconds, kTime),
      field("least_compute_seconds", &R::least_compute_seconds, kTime), field("taken", &R::taken),
      field("host_work", &R::host_work), field("collectives", &R::collectives),
      field("memory", &R::memory), field("gpus", &R::gpus),
      field("joules_per_step", &R::joules_per_step), field("threads", &R::threads),
      field("resolved", &R::resolved), field("bucket_bytes", &R::bucket_bytes),
      field("model", &R::model), field("machine", &R::machine));
}
void finish_reading(LaunchRecord& record, const JsonValue& json);

constexpr auto json_fields(const Context::Cache*) {
  using C = Context::Cache;
  return std::tuple(field("type", &C::type), field("level", &C::level), field("size", &C::size),
                    field("num_sharing", &C::num_sharing));
}

constexpr auto json_fields(const Context*) {
  return std::tuple(
      field("date", &Context::date), field("host_name", &Context::host_name),
      field("executable", &Context::executable), field("num_cpus", &Context::num_cpus),
      field("mhz_per_cpu", &Context::mhz_per_cpu),
      field("cpu_scaling_enabled", &Context::cpu_scaling_enabled),
      field("caches", &Context::caches), field("load_avg", &Context::load_avg),
      field("library_build_type", &Context::library_build_type), other_texts(&Context::custom));
}

constexpr auto json_fields(const DroppedCells*) {
  return std::tuple(field("reason", &DroppedCells::reason), field("cells", &DroppedCells::cells));
}

constexpr auto json_fields(const Resolving*) {
  constexpr FieldRule kCount{.required = true, .range = {.least = 1, .most = 4000}};
  return std::tuple(
      field("ratio", &Resolving::ratio, {.required = true, .range = {.least = 0, .most = 1}}),
      field("comparisons", &Resolving::comparisons, kCount),
      field("first_round", &Resolving::first_round, kCount),
      field("last_round", &Resolving::last_round, kCount));
}
void finish_reading(Resolving& resolving, const JsonValue& json);

constexpr auto json_fields(const Addition*) {
  return std::tuple(field("cells", &Addition::cells),
                    field("launches_per_cell", &Addition::launches_per_cell));
}

// The sweep without its context, which has its own place.
constexpr auto json_fields(const SweepInfo*) {
  using S = SweepInfo;
  return std::tuple(field("name", &S::name), field("definition", &S::definition),
                    field("planned_cells", &S::planned_cells),
                    field("launches_per_cell", &S::launches_per_cell),
                    field("resolving", &S::resolving), field("dropped", &S::dropped),
                    field("additions", &S::additions), field("commands", &S::commands));
}

}  // namespace tandem::results
