// SPDX-License-Identifier: Apache-2.0
#include "common/results/disturbance.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

namespace tandem::results {
namespace {

class Causes {
 public:
  // `taken` and `window` in the same unit.
  void add(std::string_view what, std::optional<double> taken, double window) {
    if (!taken || window <= 0 || *taken / window <= kDisturbedShare) return;
    texts_.push_back(fmt::format("{} for {:.1f} % of the time", what, 100 * *taken / window));
  }
  void add(std::string text) { texts_.push_back(std::move(text)); }

  [[nodiscard]] std::vector<std::string> texts() && { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
};

}  // namespace

std::vector<std::string> disturbances(const LaunchRecord& record) {
  Causes causes;
  if (const auto& taken = record.taken) {
    const double window = taken->window_seconds;
    causes.add("other programs had a core", taken->run_delay_seconds, window);
    causes.add("other virtual machines had a core", taken->steal_seconds, window);
    causes.add("a control group's quota stopped it", taken->throttled_seconds, window);
  }
  for (const GpuRecord& gpu : record.gpus) {
    const std::string who = fmt::format("GPU of device {}", gpu.device);
    // A power cap is the machine's own, heat comes from what ran before or beside.
    const auto heat = gpu.held_down_ms.find("thermal slowdown");
    if (heat != gpu.held_down_ms.end()) {
      causes.add(who + ": heat held its clocks down", heat->second, gpu.watched_ms.value_or(0));
    }
    if (gpu.processes.value_or(0) > 1 && !record.oversubscribed) {
      causes.add(who + ": another program was on it");
    }
  }
  return std::move(causes).texts();
}

CountedLaunches counted(const std::vector<const LaunchRecord*>& measured) {
  CountedLaunches found;
  for (const LaunchRecord* record : measured) {
    if (disturbances(*record).empty()) found.launches.push_back(record);
  }
  found.disturbed = static_cast<int>(measured.size() - found.launches.size());
  if (2 * found.launches.size() < measured.size()) {
    found.launches = measured;
    found.holds_disturbed = true;
  }
  return found;
}

}  // namespace tandem::results
