// SPDX-License-Identifier: Apache-2.0
#include "reports/gpu_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "reports/format.h"

namespace tandem::reports {
namespace {

using results::GpuReading;
using results::GpuRecord;
using results::LaunchRecord;

// The measured launches in which any GPU shows `what`.
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

std::set<std::string> slowdowns(const results::Document& document) {
  std::set<std::string> reasons;
  for (const LaunchRecord& launch : document.launches) {
    for (const GpuRecord& gpu : launch.gpus) {
      for (const GpuReading* reading : {&gpu.before, &gpu.after}) {
        reasons.insert(reading->slowed_by.begin(), reading->slowed_by.end());
      }
    }
  }
  return reasons;
}

// The lowest and the highest clock that a measured launch ended with.
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

}  // namespace

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
