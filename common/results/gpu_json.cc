// SPDX-License-Identifier: Apache-2.0
#include "common/results/gpu_json.h"

#include <optional>
#include <string_view>

namespace tandem::results {
namespace {

template <class T>
void write_if_any(JsonWriter& writer, const char* field, const std::optional<T>& value) {
  if (value) writer.value(field, *value);
}

void write_if_told(JsonWriter& writer, const char* field, const std::optional<double>& value) {
  if (value) writer.finite_value(field, *value);
}

void write(JsonWriter& writer, std::string_view key, const GpuReading& reading) {
  writer.open(key, '{');
  write_if_told(writer, "sm_mhz", reading.sm_mhz);
  write_if_told(writer, "memory_mhz", reading.memory_mhz);
  write_if_told(writer, "watts", reading.watts);
  write_if_told(writer, "celsius", reading.celsius);
  writer.value("slowed_by", reading.slowed_by);
  writer.close();
}

GpuReading reading_from(const JsonValue& json) {
  return {.sm_mhz = value_if_any<double>(json, "sm_mhz"),
          .memory_mhz = value_if_any<double>(json, "memory_mhz"),
          .watts = value_if_any<double>(json, "watts"),
          .celsius = value_if_any<double>(json, "celsius"),
          .slowed_by = value_or(json, "slowed_by", std::vector<std::string>{})};
}

void write(JsonWriter& writer, std::string_view key, const GpuPeer& peer) {
  writer.open(key, '{');
  writer.value("device", peer.device);
  writer.value("path", peer.path);
  write_if_any(writer, "peer_access", peer.peer_access);
  write_if_any(writer, "nvlinks", peer.nvlinks);
  writer.close();
}

GpuPeer peer_from(const JsonValue& json) {
  return {.device = value_or(json, "device", 0),
          .peer_access = value_if_any<bool>(json, "peer_access"),
          .nvlinks = value_if_any<int>(json, "nvlinks"),
          .path = value_or(json, "path", std::string())};
}

}  // namespace

void write(JsonWriter& writer, std::string_view key, const GpuRecord& gpu) {
  writer.open(key, '{');
  writer.value("device", gpu.device);
  writer.value("hardware", gpu.hardware);
  writer.value("name", gpu.name);
  writer.value("pci", gpu.pci);
  writer.value("driver", gpu.driver);
  writer.value("compute_mode", gpu.compute_mode);
  write_if_any(writer, "memory_bytes", gpu.memory_bytes);
  write_if_any(writer, "numa_node", gpu.numa_node);
  write_if_any(writer, "mig", gpu.mig);
  write_if_any(writer, "nvlinks", gpu.nvlinks);
  write_if_any(writer, "processes", gpu.processes);
  write_list(writer, "peers", gpu.peers, write);
  write(writer, "before", gpu.before);
  write(writer, "after", gpu.after);
  write_if_told(writer, "watched_ms", gpu.watched_ms);
  writer.finite_value("held_down_ms", gpu.held_down_ms);
  writer.close();
}

GpuRecord gpu_from(const JsonValue& json) {
  return {.device = value_or(json, "device", 0),
          .hardware = value_or(json, "hardware", std::string()),
          .name = value_or(json, "name", std::string()),
          .memory_bytes = value_if_any<std::int64_t>(json, "memory_bytes"),
          .pci = value_or(json, "pci", std::string()),
          .numa_node = value_if_any<int>(json, "numa_node"),
          .driver = value_or(json, "driver", std::string()),
          .compute_mode = value_or(json, "compute_mode", std::string()),
          .mig = value_if_any<bool>(json, "mig"),
          .nvlinks = value_if_any<int>(json, "nvlinks"),
          .processes = value_if_any<int>(json, "processes"),
          .peers = list_from<GpuPeer>(json, "peers", peer_from),
          .before = object_from(json, "before", reading_from),
          .after = object_from(json, "after", reading_from),
          .watched_ms = value_if_any<double>(json, "watched_ms"),
          .held_down_ms = value_or(json, "held_down_ms", std::map<std::string, double>{})};
}

void write(JsonWriter& writer, std::string_view key, const ThreadPlace& thread) {
  writer.open(key, '{');
  writer.value("device", thread.device);
  writer.value("phases", thread.phases);
  writer.value("cpus", thread.cpus);
  writer.value("numa_nodes", thread.numa_nodes);
  writer.close();
}

ThreadPlace thread_from(const JsonValue& json) {
  return {.device = value_or(json, "device", 0),
          .phases = value_or(json, "phases", std::vector<std::string>{}),
          .cpus = value_or(json, "cpus", std::vector<int>{}),
          .numa_nodes = value_or(json, "numa_nodes", std::vector<int>{})};
}

}  // namespace tandem::results
