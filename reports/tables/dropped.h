// SPDX-License-Identifier: Apache-2.0
//
// Cells that a sweep names and does not measure, since the cells make no sense or are ruled out.
#pragma once

#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "common/results/sweep_info.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A row per reason: the reason and the names of its cells.
[[nodiscard]] TextTable dropped_table(const results::SweepInfo& sweep);

// A line per reason: "not measured: 3 cells: single is one device".
[[nodiscard]] std::vector<std::string> dropped_lines(const results::SweepInfo& sweep);

// The cell of a name by results::Cell::name(), without a back end, which no name tells. A text of
// another form becomes a cell whose model is the whole text.
[[nodiscard]] results::Cell cell_named(const std::string& name);

}  // namespace tandem::reports
