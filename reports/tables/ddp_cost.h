// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "reports/model/own_costs.h"
#include "reports/model/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// The cost of a cell of ddp against the same computation without communication.
struct DdpCost {
  const CellSummary* ddp = nullptr;
  const CellSummary* independent = nullptr;
  stats::Estimate share;          // median step of independent / median step of ddp
  stats::Estimate missing;        // mean step of ddp minus mean step of independent, seconds
  std::optional<OwnCosts> parts;  // sum to `missing`; absent where phases were not timed
};

// The cost of each measured cell of ddp that has a measured cell of independent ranks with the same
// launch, model, batch, devices, back end, mode, modelled parts, place of input, optimizer, seed
// and accumulation. The result points into the summary, whose document must outlive the result.
[[nodiscard]] std::vector<DdpCost> ddp_costs(const Summary& summary);

// A row per cost; no rows without costs. kDdpCostNote belongs below the table.
[[nodiscard]] Table ddp_cost_table(const Summary& summary);

// The same table with fewer figures, to fit a terminal's width.
[[nodiscard]] Table brief_ddp_cost_table(const Summary& summary);

inline constexpr std::string_view kDdpCostTitle =
    "What ddp costs against independent processes, which compute the same and send nothing";

inline constexpr std::string_view kDdpCostNote =
    "Share: median step of independent / median step of ddp. Missing: mean step of ddp minus that "
    "of independent, in milliseconds; the parts beside it sum to it. Exposed transfer: the least "
    "of "
    "all ranks; skew: what the step's slowest rank has beyond that; contention: forward and "
    "backward slowed. ~ marks what is not resolved: its interval holds 0, or one launch gives "
    "none.";

}  // namespace tandem::reports
