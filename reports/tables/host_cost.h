// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/model/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// A row per cell that was measured step by step and free-running: both mean steps, and the cost of
// a synchronous step's barrier and wait, 1 - free / synchronous.
[[nodiscard]] Table mode_table(const Summary& summary);

}  // namespace tandem::reports
