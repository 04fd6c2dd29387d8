// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A row per cost; no rows without costs.
[[nodiscard]] TextTable ddp_cost_table(const Summary& summary);

}  // namespace tandem::reports
