// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/summary.h"

namespace tandem::reports {

// The device whose phases a launch is shown by: the first for dp and ddp-replicate (the root) and
// single, else the one with the longest mean span, which need not be the slowest of every sample.
// Null where no phases were timed.
[[nodiscard]] const results::DevicePhases* critical_device(const results::LaunchRecord& record);

// Mean phase times of the critical device over the launches, in the order of a step.
[[nodiscard]] std::vector<PhaseMean> mean_phases(
    const std::vector<const results::LaunchRecord*>& launches);

// Puts phase names into the order of a step; unknown names come last.
[[nodiscard]] std::vector<std::string> in_step_order(std::vector<std::string> names);

}  // namespace tandem::reports
