// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "reports/model/summary.h"

namespace tandem::reports {

// The values that an option of dp that leaves the choice to the machine, "broadcast" or "reduce",
// took in the cell's measured launches: "sequential", "tree", "collective". Empty where the records
// do not tell, as before schema 1.4.0.
[[nodiscard]] std::set<std::string> settled(const CellSummary& cell, const std::string& option);

// The mark beside a figure that says that weights or gradients travelled by collectives though the
// cell's name does not say so, or not alike in all launches. Empty where neither is the case.
[[nodiscard]] std::string transfers_mark(const CellSummary& cell);

}  // namespace tandem::reports
