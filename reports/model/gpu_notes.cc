// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "common/base/units.h"
#include "reports/model/notes.h"
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

using Groups = std::map<std::string, std::vector<std::string>>;  // who, by what they share

// The text "0 1: NVIDIA H200, 140 GiB"; "each two: NVLinks", with `all` for who, where all are
// alike.
std::string text_of(const Groups& groups, const std::string& all) {
  std::vector<std::string> texts;
  for (const auto& [what, who] : groups) {
    texts.push_back((groups.size() == 1 ? all : join(who, " ") + ": ") + what);
  }
  return join(texts, "; ");
}

// GPUs of one kind stand together.
std::string kinds_text(const LaunchRecord& launch) {
  Groups kinds;
  for (const GpuRecord& gpu : launch.gpus) {
    if (gpu.name.empty()) continue;
    const std::string memory =
        gpu.memory_bytes ? ", " + to_string(Bytes{*gpu.memory_bytes}) : std::string();
    kinds[gpu.name + memory].push_back(std::to_string(gpu.device));
  }
  return text_of(kinds, "");
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
  Groups pairs;
  for (const GpuRecord& gpu : launch.gpus) {
    for (const GpuPeer& peer : gpu.peers) {
      if (peer.device <= gpu.device) continue;
      const std::string text = between_text(peer);
      if (!text.empty()) pairs[text].push_back(fmt::format("{}-{}", gpu.device, peer.device));
    }
  }
  return text_of(pairs, "each two: ");
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
    if (std::ranges::find(phases, "forward") == phases.end()) continue;
    const std::string nodes = thread.numa_nodes.empty()
                                  ? ""
                                  : fmt::format(" (NUMA node {})", ranges_text(thread.numa_nodes));
    threads.push_back(fmt::format("{}: {}{}", thread.device, ranges_text(thread.cpus), nodes));
  }
  return join(threads, ", ");
}

// Adds a line where any GPU of a measured launch shows `what`: `before`, the number of such
// launches and `after`.
void add_line(std::vector<std::string>& lines, const results::Document& document,
              const std::function<bool(const LaunchRecord&, const GpuRecord&)>& what,
              const std::string& before, const std::string& after) {
  const auto launches = std::ranges::count_if(document.launches, [&](const LaunchRecord& launch) {
    return launch.status == results::Status::kOk &&
           std::ranges::any_of(launch.gpus,
                               [&](const GpuRecord& gpu) { return what(launch, gpu); });
  });
  if (launches > 0) lines.push_back(before + count_text(launches, "launch") + after);
}

// The causes that held down the GPU's clocks at either reading.
std::set<std::string> slowdowns(const GpuRecord& gpu) {
  std::set<std::string> reasons;
  for (const GpuReading* reading : {&gpu.before, &gpu.after}) {
    reasons.insert(reading->slowed_by.begin(), reading->slowed_by.end());
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
  return std::ranges::any_of(launch.threads, [&](const results::ThreadPlace& thread) {
    const auto has = [](const auto& list, const auto& value) {
      return std::ranges::find(list, value) != list.end();
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
  std::set<std::string> seen;  // for drivers that count no time
  for (const LaunchRecord* launch : cell.measured) {
    for (const GpuRecord& gpu : launch->gpus) seen.merge(slowdowns(gpu));
  }
  if (seen.empty()) return "";
  return fmt::format("throttled: {} when it was looked at", fmt::join(seen, ", "));
}

std::string clock_mark(const CellSummary& cell) {
  double most = 0;
  for (const LaunchRecord* launch : cell.measured) {
    for (const GpuRecord& gpu : launch->gpus) most = std::max(most, gpu.clock_drift.value_or(0));
  }
  if (most <= results::kSteadyClock) return "";
  return fmt::format("GPU clocks still drifted by {:.0f} % after the warm-up", 100 * most);
}

std::vector<std::string> gpu_notes(const results::Document& document) {
  std::set<std::string> reasons;
  for (const LaunchRecord& launch : document.launches) {
    for (const GpuRecord& gpu : launch.gpus) reasons.merge(slowdowns(gpu));
  }
  std::vector<std::string> lines;
  for (const std::string& reason : reasons) {
    add_line(
        lines, document,
        [&](const LaunchRecord&, const GpuRecord& gpu) { return slowdowns(gpu).contains(reason); },
        fmt::format("throttled: {} held a GPU's clocks down in ", reason),
        clocks(document) +
            ": these figures are of the cooling or the power supply as much as of the GPU");
  }
  add_time_held_down(lines, document);
  add_line(lines, document, is_far, "far from the GPU: in ",
           " a GPU was driven by a thread on another NUMA node than its own");
  add_line(
      lines, document,
      [](const LaunchRecord& launch, const GpuRecord& gpu) {
        return !launch.oversubscribed && gpu.processes.value_or(0) > 1;
      },
      "shared GPUs: more than one process computed on a GPU in ",
      "; the others took time from what was measured");
  const bool is_divided = std::ranges::any_of(document.launches, [](const LaunchRecord& launch) {
    return launch.status == results::Status::kOk &&
           std::ranges::any_of(launch.gpus, [](const GpuRecord& gpu) { return gpu.mig == true; });
  });
  if (is_divided) {
    lines.emplace_back(
        "MIG: a device here may be an instance of a GPU and no whole one; clocks and power are the "
        "whole GPU's");
  }
  return lines;
}

}  // namespace tandem::reports
