// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "reports/summary.h"

namespace tandem::reports {

// What an option of dp that stands for whatever the machine has, "broadcast" or "reduce", came to
// in the cell's measured launches: "sequential", "tree", "collective". Empty: not told, as in
// results of before schema 1.4.0.
[[nodiscard]] std::set<std::string> settled(const CellSummary& cell, const std::string& option);

// Beside the figure: that weights or gradients travelled by collectives though the cell's name does
// not say so, or not alike in all launches. Empty: neither.
[[nodiscard]] std::string transfers_mark(const CellSummary& cell);

}  // namespace tandem::reports
