// SPDX-License-Identifier: Apache-2.0
#include "reports/model/gpu_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "common/base/units.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

using results::GpuPeer;
using results::GpuReading;
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

// The text "0-3,8" for 0, 1, 2, 3, 8.
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

// The number of measured launches in which any GPU shows `what`.
int launches_with(const results::Document& document,
                  const std::function<bool(const LaunchRecord&, const GpuRecord&)>& what) {
  const auto shows = [&](const LaunchRecord& launch) {
    return launch.status == results::Status::kOk &&
           std::any_of(launch.gpus.begin(), launch.gpus.end(),
                       [&](const GpuRecord& gpu) { return what(launch, gpu); });
  };
  return static_cast<int>(std::count_if(document.launches.begin(), document.launches.end(), shows));
}

bool was_slowed(const GpuRecord& gpu, const std::string& reason) {
  const auto in = [&](const GpuReading& reading) {
    return std::find(reading.slowed_by.begin(), reading.slowed_by.end(), reason) !=
           reading.slowed_by.end();
  };
  return in(gpu.before) || in(gpu.after);
}

void add_slowdowns(std::set<std::string>& reasons, const GpuRecord& gpu) {
  for (const GpuReading* reading : {&gpu.before, &gpu.after}) {
    reasons.insert(reading->slowed_by.begin(), reading->slowed_by.end());
  }
}

std::set<std::string> slowdowns(const results::Document& document) {
  std::set<std::string> reasons;
  for (const LaunchRecord& launch : document.launches) {
    for (const GpuRecord& gpu : launch.gpus) add_slowdowns(reasons, gpu);
  }
  return reasons;
}

// The causes that held down a GPU's clocks at either reading, in any measured launch.
std::set<std::string> seen_slowed(const CellSummary& cell) {
  std::set<std::string> reasons;
  for (const LaunchRecord* launch : cell.measured) {
    for (const GpuRecord& gpu : launch->gpus) add_slowdowns(reasons, gpu);
  }
  return reasons;
}

// The lowest and the highest clock at the end of the measured launches.
std::string clocks(const results::Document& document) {
  std::set<double> clocks;
  for (const LaunchRecord& launch : document.launches) {
    for (const GpuRecord& gpu : launch.gpus) {
      if (gpu.after.sm_mhz) clocks.insert(*gpu.after.sm_mhz);
    }
  }
  if (clocks.empty()) return "";
  return fmt::format("; launches ended at {:.0f} to {:.0f} MHz", *clocks.begin(), *clocks.rbegin());
}

// The largest share of a launch's measurement for which one cause held a GPU's clocks down.
struct Slowdown {
  std::string cause;
  double share = 0;
};

Slowdown worst_of(const LaunchRecord& launch) {
  Slowdown worst;
  for (const GpuRecord& gpu : launch.gpus) {
    if (gpu.watched_ms.value_or(0) <= 0) continue;
    for (const auto& [cause, ms] : gpu.held_down_ms) {
      const double share = std::min(1.0, ms / *gpu.watched_ms);  // the counters advance in steps
      if (share > worst.share) worst = {cause, share};
    }
  }
  return worst;
}

std::string text_of(const Slowdown& slowdown) {
  return fmt::format("{} for up to {:.0f} % of the time", slowdown.cause,
                     std::max(1.0, 100 * slowdown.share));
}

// The driver's own counters tell the time, and miss nothing between two readings.
void add_time_held_down(std::vector<std::string>& lines, const results::Document& document) {
  Slowdown worst;
  int launches = 0;
  for (const LaunchRecord& launch : document.launches) {
    if (launch.status != results::Status::kOk) continue;
    const Slowdown own = worst_of(launch);
    if (own.share > 0) ++launches;
    if (own.share > worst.share) worst = own;
  }
  if (launches == 0) return;
  lines.push_back(fmt::format(
      "throttled while measuring: in {} a GPU's clocks were held down, by {}; such figures are of "
      "the cooling or the power supply as much as of the GPU",
      count_text(launches, "launch"), text_of(worst)));
}

// Whether a thread that drives the device's computing runs on another NUMA node than the GPU.
bool is_far(const LaunchRecord& launch, const GpuRecord& gpu) {
  if (!gpu.numa_node) return false;
  return std::any_of(launch.threads.begin(), launch.threads.end(),
                     [&](const results::ThreadPlace& thread) {
                       const auto has = [](const auto& list, const auto& value) {
                         return std::find(list.begin(), list.end(), value) != list.end();
                       };
                       return thread.device == gpu.device && has(thread.phases, "forward") &&
                              !thread.numa_nodes.empty() && !has(thread.numa_nodes, *gpu.numa_node);
                     });
}

}  // namespace

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

std::string slowdown_mark(const CellSummary& cell) {
  Slowdown worst;
  for (const LaunchRecord* launch : cell.measured) {
    const Slowdown own = worst_of(*launch);
    if (own.share > worst.share) worst = own;
  }
  if (worst.share > 0) return "throttled: " + text_of(worst);
  const std::set<std::string> seen = seen_slowed(cell);  // for drivers that count no time
  if (seen.empty()) return "";
  return fmt::format("throttled: {} when it was looked at", fmt::join(seen, ", "));
}

std::vector<std::string> gpu_notes(const results::Document& document) {
  std::vector<std::string> lines;
  for (const std::string& reason : slowdowns(document)) {
    const int launches = launches_with(document, [&](const LaunchRecord&, const GpuRecord& gpu) {
      return was_slowed(gpu, reason);
    });
    if (launches == 0) continue;
    lines.push_back(fmt::format(
        "throttled: {} held a GPU's clocks down in {}{}: these figures are of the cooling or the "
        "power supply as much as of the GPU",
        reason, count_text(launches, "launch"), clocks(document)));
  }
  add_time_held_down(lines, document);
  const int far = launches_with(document, is_far);
  if (far > 0) {
    lines.push_back(fmt::format(
        "far from the GPU: in {} a GPU was driven by a thread on another NUMA node than its own",
        count_text(far, "launch")));
  }
  const int shared = launches_with(document, [](const LaunchRecord& launch, const GpuRecord& gpu) {
    return !launch.oversubscribed && gpu.processes.value_or(0) > 1;
  });
  if (shared > 0) {
    lines.push_back(fmt::format(
        "shared GPUs: more than one process computed on a GPU in {}; the others took time from "
        "what was measured",
        count_text(shared, "launch")));
  }
  const int divided = launches_with(
      document, [](const LaunchRecord&, const GpuRecord& gpu) { return gpu.mig.value_or(false); });
  if (divided > 0) {
    lines.emplace_back(
        "MIG: a device here may be an instance of a GPU and no whole one; clocks and power are the "
        "whole GPU's");
  }
  return lines;
}

}  // namespace tandem::reports
