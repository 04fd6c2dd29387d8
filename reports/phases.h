// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/summary.h"

namespace tandem::reports {

// Mean phase times of the critical device over the launches: device 0 for dp (the root) and single,
// else the device with the longest mean span, which need not be the slowest of every sample. In the
// order of a step.
[[nodiscard]] std::vector<PhaseMean> mean_phases(
    const std::vector<const results::LaunchRecord*>& launches);

// Puts phase names into the order of a step; unknown names come last.
[[nodiscard]] std::vector<std::string> in_step_order(std::vector<std::string> names);

}  // namespace tandem::reports
