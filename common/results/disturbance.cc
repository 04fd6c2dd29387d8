// SPDX-License-Identifier: Apache-2.0
#include "common/results/disturbance.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace tandem::results {
namespace {

void add(std::vector<std::string>& causes, std::string_view what, std::optional<double> taken,
         double window) {
  if (!taken || *taken - kTickSeconds <= kDisturbedShare * window) return;
  causes.push_back(fmt::format("{} for {:.1f} % of the time", what, 100 * *taken / window));
}

}  // namespace

std::vector<std::string> disturbances(const LaunchRecord& record) {
  std::vector<std::string> causes;
  if (!record.taken || record.taken->window_seconds < kShortestWindow) return causes;
  const double window = record.taken->window_seconds;
  add(causes, "other programs had a core", record.taken->run_delay_seconds, window);
  add(causes, "other virtual machines had a core", record.taken->steal_seconds, window);
  return causes;
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
