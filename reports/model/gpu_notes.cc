// SPDX-License-Identifier: Apache-2.0
#include "reports/model/gpu_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "reports/format.h"

namespace tandem::reports {
namespace {

using results::GpuReading;
using results::GpuRecord;
using results::LaunchRecord;

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
