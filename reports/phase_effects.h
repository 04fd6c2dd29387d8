// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/explanation.h"
#include "reports/measured_ladder.h"

namespace tandem::reports {

// The step from dp's last rung to the all-reduce, by phase of the critical devices: differences of
// phase means, dp's reduction set against the exposed all-reduce, and last what is in no phase, so
// that they sum to the step. Empty where phases were not timed.
[[nodiscard]] std::vector<Effect> replication_by_phase(const MeasuredLadder& ladder);

// What ddp as torch has it takes more than independent processes, in parts that sum to it: those of
// own_costs(). Empty where phases were not timed or a rung is missing.
[[nodiscard]] std::vector<Effect> own_costs_of_ddp(const MeasuredLadder& ladder);

}  // namespace tandem::reports
