// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "common/base/units.h"
#include "reports/model/notes.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

using results::GpuPeer;
using results::GpuReading;
using results::GpuRecord;
using results::LaunchRecord;

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

// The driver of the first device that names one, since all devices share the driver.
std::string driver_of(const LaunchRecord& launch) {
  for (const GpuRecord& gpu : launch.gpus) {
    if (!gpu.driver.empty()) return gpu.driver;
  }
  return "";
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

// A cause that held a GPU's clocks down while a launch measured, and the largest share of the time
// that it did. A driver that counts no time reports the causes at the readings before and after
// alone.
struct Slowdown {
  std::string cause;
  double share = 0;  // 0: not counted

  void take_worse(const Slowdown& other) {
    if (!other.cause.empty() && (cause.empty() || other.share > share)) *this = other;
  }
};

Slowdown worst_of(const LaunchRecord& launch) {
  Slowdown worst;
  for (const GpuRecord& gpu : launch.gpus) {
    for (const GpuReading* reading : {&gpu.before, &gpu.after}) {
      if (!reading->slowed_by.empty()) worst.take_worse({.cause = reading->slowed_by.front()});
    }
    if (gpu.watched_ms.value_or(0) <= 0) continue;
    for (const auto& [cause, ms] : gpu.held_down_ms) {
      // The counters advance in steps.
      if (ms > 0) worst.take_worse({cause, std::min(1.0, ms / *gpu.watched_ms)});
    }
  }
  return worst;
}

std::string text_of(const Slowdown& slowdown) {
  if (slowdown.share == 0) return slowdown.cause + " when it was looked at";
  return fmt::format("{} for up to {:.0f} % of the time", slowdown.cause,
                     std::max(1.0, 100 * slowdown.share));
}

void add_slowdowns(std::vector<std::string>& lines, const results::Document& document) {
  Slowdown worst;
  int launches = 0;
  for (const LaunchRecord& launch : document.launches) {
    if (launch.status != results::Status::kOk) continue;
    const Slowdown own = worst_of(launch);
    if (!own.cause.empty()) ++launches;
    worst.take_worse(own);
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
  add("between GPUs", matrix_text(*launch));
  return facts;
}

std::string slowdown_mark(const CellSummary& cell) {
  Slowdown worst;
  for (const LaunchRecord* launch : cell.measured) worst.take_worse(worst_of(*launch));
  return worst.cause.empty() ? "" : "throttled: " + text_of(worst);
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
  std::vector<std::string> lines;
  add_slowdowns(lines, document);
  add_line(lines, document, is_far, "far from the GPU: in ",
           " a GPU was driven by a thread on another NUMA node than its own");
  add_line(
      lines, document,
      [](const LaunchRecord& launch, const GpuRecord& gpu) {
        return !launch.oversubscribed && gpu.processes.value_or(0) > 1;
      },
      "shared GPUs: more than one process computed on a GPU in ",
      "; the others took time from what was measured");
  add_line(
      lines, document, [](const LaunchRecord&, const GpuRecord& gpu) { return gpu.mig == true; },
      "MIG: in ",
      " a device may be an instance of a GPU and no whole one; clocks and power are the whole "
      "GPU's");
  return lines;
}

}  // namespace tandem::reports
