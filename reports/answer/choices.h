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

// Where a strategy on several devices is slower than one device beyond doubt: "At this point 2
// devices are slower than one (one device: 1x): mlp-base, batch 64 (dp at 0.87x)."; empty where
// none is. Where numbers of devices differ, "several devices" are, and each place has its own.
[[nodiscard]] std::string slower_text(const std::vector<const StrategyPair*>& pairs);

// Where several devices gain most over one beyond doubt: " Against one device the best is ddp at
// 1.80x on mlp-small, batch 512."; empty where nothing is gained.
[[nodiscard]] std::string gain_text(const std::vector<const StrategyPair*>& pairs);

// The comparison in which the speed of the faster over the slower is largest beyond doubt; null
// where none is resolved, and none that is_too_wide().
[[nodiscard]] const StrategyPair* largest_lead(const std::vector<const StrategyPair*>& pairs);

// How much faster `winner` (kFaster: ddp, kSlower: dp) is in the comparisons that it wins: " (1.38
// times as fast on mlp-small, batch 64)" of one, " (1.11 to 1.46 times as fast, most on ...)" of
// several; empty where it wins none, or none that is not too wide.
[[nodiscard]] std::string lead_text(const std::vector<const StrategyPair*>& pairs,
                                    stats::Verdict winner);

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
