// SPDX-License-Identifier: Apache-2.0
#include "common/results/gpu_json.h"

#include "common/results/json_lists.h"

namespace tandem::results {
namespace {

template <class T>
void put_if_any(Json& json, const char* field, const std::optional<T>& value) {
  if (value) json[field] = *value;
}

void put_if_told(Json& json, const char* field, const std::optional<double>& value) {
  if (value) json[field] = finite(*value, field);
}

Json to_json(const GpuReading& reading) {
  Json json = Json::object();
  put_if_told(json, "sm_mhz", reading.sm_mhz);
  put_if_told(json, "memory_mhz", reading.memory_mhz);
  put_if_told(json, "watts", reading.watts);
  put_if_told(json, "celsius", reading.celsius);
  json["slowed_by"] = reading.slowed_by;
  return json;
}

GpuReading reading_from(const Json& json) {
  return {.sm_mhz = value_if_any<double>(json, "sm_mhz"),
          .memory_mhz = value_if_any<double>(json, "memory_mhz"),
          .watts = value_if_any<double>(json, "watts"),
          .celsius = value_if_any<double>(json, "celsius"),
          .slowed_by = value_or(json, "slowed_by", std::vector<std::string>{})};
}

Json to_json(const GpuPeer& peer) {
  Json json{{"device", peer.device}, {"path", peer.path}};
  put_if_any(json, "peer_access", peer.peer_access);
  put_if_any(json, "nvlinks", peer.nvlinks);
  return json;
}

GpuPeer peer_from(const Json& json) {
  return {.device = value_or(json, "device", 0),
          .peer_access = value_if_any<bool>(json, "peer_access"),
          .nvlinks = value_if_any<int>(json, "nvlinks"),
          .path = value_or(json, "path", std::string())};
}

Json held_down_to_json(const std::map<std::string, double>& times) {
  Json json = Json::object();
  for (const auto& [cause, ms] : times) json[cause] = finite(ms, "held_down_ms");
  return json;
}

}  // namespace

Json to_json(const GpuRecord& gpu) {
  Json json{{"device", gpu.device},
            {"hardware", gpu.hardware},
            {"pci", gpu.pci},
            {"driver", gpu.driver},
            {"compute_mode", gpu.compute_mode}};
  put_if_any(json, "numa_node", gpu.numa_node);
  put_if_any(json, "mig", gpu.mig);
  put_if_any(json, "nvlinks", gpu.nvlinks);
  put_if_any(json, "processes", gpu.processes);
  json["peers"] = list_to_json(gpu.peers, to_json);
  json["before"] = to_json(gpu.before);
  json["after"] = to_json(gpu.after);
  put_if_told(json, "watched_ms", gpu.watched_ms);
  json["held_down_ms"] = held_down_to_json(gpu.held_down_ms);
  return json;
}

GpuRecord gpu_from(const Json& json) {
  return {.device = value_or(json, "device", 0),
          .hardware = value_or(json, "hardware", std::string()),
          .pci = value_or(json, "pci", std::string()),
          .numa_node = value_if_any<int>(json, "numa_node"),
          .driver = value_or(json, "driver", std::string()),
          .compute_mode = value_or(json, "compute_mode", std::string()),
          .mig = value_if_any<bool>(json, "mig"),
          .nvlinks = value_if_any<int>(json, "nvlinks"),
          .processes = value_if_any<int>(json, "processes"),
          .peers = list_from<GpuPeer>(json, "peers", peer_from),
          .before = reading_from(value_or(json, "before", Json::object())),
          .after = reading_from(value_or(json, "after", Json::object())),
          .watched_ms = value_if_any<double>(json, "watched_ms"),
          .held_down_ms = value_or(json, "held_down_ms", std::map<std::string, double>{})};
}

Json to_json(const ThreadPlace& thread) {
  return Json{{"device", thread.device},
              {"phases", thread.phases},
              {"cpus", thread.cpus},
              {"numa_nodes", thread.numa_nodes}};
}

ThreadPlace thread_from(const Json& json) {
  return {.device = value_or(json, "device", 0),
          .phases = value_or(json, "phases", std::vector<std::string>{}),
          .cpus = value_or(json, "cpus", std::vector<int>{}),
          .numa_nodes = value_or(json, "numa_nodes", std::vector<int>{})};
}

}  // namespace tandem::results
