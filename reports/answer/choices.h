// SPDX-License-Identifier: Apache-2.0
//
// The strategy to use at each compared point, with the steps that decide it.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.h"
#include "reports/text/blocks.h"
#include "reports/text/table.h"

namespace tandem::reports {

// Whether the cell is slower, or faster, than one device beyond doubt.
[[nodiscard]] bool is_slower_than_single(const CellSummary& cell);
[[nodiscard]] bool is_faster_than_single(const CellSummary& cell);

// Marks of a comparison's figures, " (oversubscribed, modelled: ...)"; empty where there are none.
[[nodiscard]] std::string marks_text(const StrategyPair& pair);

// Whether the comparison says something about speed on several devices.
[[nodiscard]] bool counts(const StrategyPair& pair);

// The workload with its marks, but for the one that all figures of a projection share, which the
// first line has; with its number of devices unless the sentence around it has that.
[[nodiscard]] std::string place_of(const Summary& summary, const StrategyPair& pair,
                                   bool with_devices = true);

// A row per comparison on several devices, of a dozen at most, and one that says how many more
// there are: the median steps of one device, dp, ddp and the bound, what to use, and its speed over
// the other strategy's, or one device's speed over the faster strategy's. A figure that
// is_too_wide() says so; other tables have it. Pretended GPUs have no row, since their times say
// nothing about speed.
[[nodiscard]] TextTable choice_table(const Summary& summary,
                                     const std::vector<const StrategyPair*>& pairs);

// The median steps of one device, dp, ddp and the bound at the comparison's point, as far as they
// were measured.
[[nodiscard]] Bars step_bars(const StrategyPair& pair, const Summary& summary);

}  // namespace tandem::reports
