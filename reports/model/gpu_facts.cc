// SPDX-License-Identifier: Apache-2.0
#include "reports/model/gpu_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/base/units.h"
#include "reports/format.h"

namespace tandem::reports {
namespace {

using results::GpuPeer;
using results::GpuRecord;
using results::LaunchRecord;
using results::ThreadPlace;

const LaunchRecord* largest_launch(const results::Document& document) {
  const LaunchRecord* largest = nullptr;
  for (const LaunchRecord& launch : document.launches) {
    if (launch.status != results::Status::kOk || launch.gpus.empty()) continue;
    if (largest == nullptr || launch.gpus.size() > largest->gpus.size()) largest = &launch;
  }
  return largest;
}

// The text "0 1: NVIDIA H200, 140 GiB"; GPUs of one kind stand together.
std::string kinds_text(const LaunchRecord& launch) {
  std::map<std::string, std::vector<std::string>> kinds;
  for (const GpuRecord& gpu : launch.gpus) {
    if (gpu.name.empty()) continue;
    const std::string memory =
        gpu.memory_bytes ? ", " + to_string(Bytes{*gpu.memory_bytes}) : std::string();
    kinds[gpu.name + memory].push_back(std::to_string(gpu.device));
  }
  std::vector<std::string> groups;
  for (const auto& [kind, of] : kinds) {
    groups.push_back(kinds.size() == 1 ? kind : fmt::format("{}: {}", join(of, " "), kind));
  }
  return join(groups, "; ");
}

// The driver of the first device that tells one, since all devices share the driver.
std::string driver_of(const LaunchRecord& launch) {
  for (const GpuRecord& gpu : launch.gpus) {
    if (!gpu.driver.empty()) return gpu.driver;
  }
  return "";
}

std::string places_text(const LaunchRecord& launch) {
  std::vector<std::string> places;
  for (const GpuRecord& gpu : launch.gpus) {
    if (gpu.pci.empty()) continue;
    const std::string node = gpu.numa_node ? fmt::format(" (NUMA node {})", *gpu.numa_node) : "";
    places.push_back(fmt::format("{}: {}{}", gpu.device, gpu.pci, node));
  }
  return join(places, ", ");
}

// The text "18 NVLinks, peer access, PCIe by NUMA node".
std::string between_text(const GpuPeer& peer) {
  std::vector<std::string> parts;
  if (peer.nvlinks) parts.push_back(count_text(*peer.nvlinks, "NVLink"));
  if (peer.peer_access) parts.emplace_back(*peer.peer_access ? "peer access" : "no peer access");
  if (peer.path == "same GPU")
    parts.push_back(peer.path);
  else if (!peer.path.empty())
    parts.push_back("PCIe by " + peer.path);
  return join(parts, ", ");
}

// The connections of all pairs; pairs with the same connection stand together.
std::string matrix_text(const LaunchRecord& launch) {
  std::map<std::string, std::vector<std::string>> pairs;
  for (const GpuRecord& gpu : launch.gpus) {
    for (const GpuPeer& peer : gpu.peers) {
      if (peer.device <= gpu.device) continue;
      const std::string text = between_text(peer);
      if (!text.empty()) pairs[text].push_back(fmt::format("{}-{}", gpu.device, peer.device));
    }
  }
  std::vector<std::string> groups;
  for (const auto& [text, of] : pairs) {
    groups.push_back(fmt::format("{}: {}", pairs.size() == 1 ? "each two" : join(of, " "), text));
  }
  return join(groups, "; ");
}

std::string threads_text(const LaunchRecord& launch) {
  std::vector<std::string> threads;
  for (const ThreadPlace& thread : launch.threads) {
    const auto& phases = thread.phases;
    if (std::find(phases.begin(), phases.end(), "forward") == phases.end()) continue;
    const std::string nodes = thread.numa_nodes.empty()
                                  ? ""
                                  : fmt::format(" (NUMA node {})", ranges_text(thread.numa_nodes));
    threads.push_back(fmt::format("{}: {}{}", thread.device, ranges_text(thread.cpus), nodes));
  }
  return join(threads, ", ");
}

}  // namespace

std::string ranges_text(const std::vector<int>& ascending) {
  std::vector<std::string> ranges;
  for (std::size_t first = 0; first < ascending.size();) {
    std::size_t last = first;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    ranges.push_back(first == last ? fmt::format("{}", ascending[first])
                                   : fmt::format("{}-{}", ascending[first], ascending[last]));
    first = last + 1;
  }
  return join(ranges, ",");
}

std::vector<std::pair<std::string, std::string>> gpu_facts(const results::Document& document) {
  const LaunchRecord* const launch = largest_launch(document);
  if (launch == nullptr) return {};
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&facts](const std::string& name, const std::string& value) {
    if (!value.empty()) facts.emplace_back(name, value);
  };
  add("GPU", kinds_text(*launch));
  add("driver", driver_of(*launch));
  add("GPUs by device", places_text(*launch));
  add("between GPUs", matrix_text(*launch));
  add("CPUs of threads that drive a forward pass, by device", threads_text(*launch));
  return facts;
}

}  // namespace tandem::reports
