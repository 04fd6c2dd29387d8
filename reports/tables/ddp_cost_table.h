// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A row per cost; no rows without costs. kDdpCostNote belongs below the table.
[[nodiscard]] TextTable ddp_cost_table(const Summary& summary);

// The same table with fewer figures, to fit a terminal's width.
[[nodiscard]] TextTable brief_ddp_cost_table(const Summary& summary);

inline constexpr std::string_view kDdpCostTitle =
    "What ddp costs against independent processes, which compute the same and send nothing";

inline constexpr std::string_view kDdpCostNote =
    "Share: median step of independent / median step of ddp. Missing: mean step of ddp minus that "
    "of independent, in milliseconds; the parts beside it sum to it. Exposed transfer: the least "
    "of all ranks; skew: what the step's slowest rank has beyond that; contention: forward and "
    "backward slowed. ~ marks what is not resolved: its interval holds 0, or one launch gives "
    "none.";

}  // namespace tandem::reports
