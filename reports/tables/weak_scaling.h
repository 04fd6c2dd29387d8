// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/model/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// A row per cell of several devices with an efficiency of weak scaling: that efficiency, and the
// speed-up that follows.
[[nodiscard]] Table weak_table(const Summary& summary);

}  // namespace tandem::reports
