// SPDX-License-Identifier: Apache-2.0
//
// What to use: the first figures that a reader sees, a row per workload.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// Marks of a comparison's figures, " (oversubscribed, modelled: ...)"; empty where there are none.
[[nodiscard]] std::string marks_text(const StrategyPair& pair);

// Where a strategy on several devices is slower than one device beyond doubt: "Several devices
// are slower than one: mlp-base, batch 64, 2 devices (dp has 0.87x its speed)."; empty where none
// is.
[[nodiscard]] std::string slower_text(const std::vector<const StrategyPair*>& pairs);

// Where several devices gain most over one beyond doubt: " Several devices gain most on mlp-small,
// batch 512, 2 devices: ddp has 1.80x the speed of one."; empty where nothing is gained.
[[nodiscard]] std::string gain_text(const std::vector<const StrategyPair*>& pairs);

// A row per comparison on several devices, of a dozen at most, and one that says how many more
// there are: the median steps of one device, dp, ddp and the bound, what to use, and its speed over
// the other strategy's, or one device's speed over the faster strategy's. A figure that
// is_too_wide() says so; other tables have it. Pretended GPUs have no row, since their times say
// nothing about speed.
[[nodiscard]] TextTable choice_table(const Summary& summary,
                                     const std::vector<const StrategyPair*>& pairs);

// Whether the cell is slower than one device beyond doubt.
[[nodiscard]] bool is_slower_than_single(const CellSummary& cell);

}  // namespace tandem::reports
