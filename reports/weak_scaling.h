// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// Efficiency of weak scaling of each cell of several devices that has one, and the speed-up that it
// makes.
[[nodiscard]] Table weak_table(const Summary& summary);

}  // namespace tandem::reports
