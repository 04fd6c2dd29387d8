// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/model/explanation.h"
#include "reports/model/measured_ladder.h"

namespace tandem::reports {

// The step from dp's last rung to the all-reduce, by phase of the critical devices: differences of
// phase means, where dp's reduction is compared with the exposed all-reduce, and the time in no
// phase last, so that the effects sum to the step. Empty where phases were not timed.
[[nodiscard]] std::vector<Effect> replication_by_phase(const MeasuredLadder& ladder);

// The extra time of ddp as torch has it over independent processes, in the parts of own_costs(),
// which sum to that time. Empty where phases were not timed or a rung is missing.
[[nodiscard]] std::vector<Effect> own_costs_of_ddp(const MeasuredLadder& ladder);

}  // namespace tandem::reports
