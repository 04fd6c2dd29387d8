// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// Cells that were measured both step by step and free-running: mean step of either, and what the
// barrier and the wait of a synchronous step cost, 1 - free / synchronous.
[[nodiscard]] Table mode_table(const Summary& summary);

}  // namespace tandem::reports
