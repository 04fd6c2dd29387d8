// SPDX-License-Identifier: Apache-2.0
#include "reports/model/phases.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "common/base/phases.h"

namespace tandem::reports {
namespace {

// The phases of Tandem, and zero_grad, which PyTorch's steps have before idle.
constexpr auto kStepOrder = [] {
  std::array<std::string_view, kPhaseCount + 1> names{};
  std::ranges::copy(kPhaseNames, names.begin());
  names[kPhaseCount] = std::exchange(names[kPhaseCount - 1], "zero_grad");
  return names;
}();

std::size_t place_of(std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(kStepOrder, name) - kStepOrder.begin());
}

}  // namespace

const results::DevicePhases* critical_device(const results::LaunchRecord& record) {
  return record.critical.mean_seconds.empty() ? nullptr : &record.critical;
}

bool have_phases(const std::vector<const results::LaunchRecord*>& launches) {
  return !launches.empty() &&
         std::ranges::all_of(launches, [](const results::LaunchRecord* record) {
           return critical_device(*record) != nullptr;
         });
}

double phase_seconds(const results::DevicePhases& device, const std::string& name) {
  const auto found = device.mean_seconds.find(name);
  return found == device.mean_seconds.end() ? 0 : found->second;
}

std::span<const std::string_view> step_phases() { return kStepOrder; }

std::vector<std::string> in_step_order(std::vector<std::string> names) {
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return std::pair(place_of(a), a) < std::pair(place_of(b), b);
  });
  return names;
}

std::vector<PhaseMean> mean_phases(const std::vector<const results::LaunchRecord*>& launches) {
  std::map<std::string, double> sums;
  int counted = 0;
  for (const results::LaunchRecord* record : launches) {
    const results::DevicePhases* device = critical_device(*record);
    if (device == nullptr) continue;
    ++counted;
    for (const auto& [name, seconds] : device->mean_seconds) sums[name] += seconds;
  }
  std::vector<std::string> names;
  for (const auto& [name, sum] : sums) names.push_back(name);
  std::vector<PhaseMean> means;
  for (const std::string& name : in_step_order(names)) {
    means.push_back({.name = name, .seconds = sums.at(name) / counted});
  }
  return means;
}

}  // namespace tandem::reports
