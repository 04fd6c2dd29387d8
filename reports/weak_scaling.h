// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "reports/summary.h"

namespace tandem::reports {

// For each of the summary's cells, the efficiency of weak scaling: median step of `single` on the
// batch that one device has here (batch / devices) over the own median step, with Welch's interval
// on log launch medians. Absent for single, where devices do not divide the batch, and where that
// `single` was not measured in the same mode and precision, with the same optimizer and models.
[[nodiscard]] std::vector<std::optional<stats::Estimate>> weak_efficiencies(const Summary& summary);

}  // namespace tandem::reports
