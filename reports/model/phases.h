// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "reports/model/summary.h"

namespace tandem::reports {

// The device whose phases stand for a launch: the critical device of each sample (the root where
// there is one, else the slowest device), so that phases and remainder add up to the mean step.
// Null where no phases were timed.
[[nodiscard]] const results::DevicePhases* critical_device(const results::LaunchRecord& record);

// Whether the list has launches and each launch has phases.
[[nodiscard]] bool have_phases(const std::vector<const results::LaunchRecord*>& launches);

// Mean seconds per step of a phase; 0 where the device does not have it.
[[nodiscard]] double phase_seconds(const results::DevicePhases& device, const std::string& name);

// Mean phase times of the critical device over the launches, in the order of a step.
[[nodiscard]] std::vector<PhaseMean> mean_phases(
    const std::vector<const results::LaunchRecord*>& launches);

// The names of the phases, in the order of a step.
[[nodiscard]] std::span<const std::string_view> step_phases();

// Puts phase names into the order of a step; unknown names come last.
[[nodiscard]] std::vector<std::string> in_step_order(std::vector<std::string> names);

}  // namespace tandem::reports
