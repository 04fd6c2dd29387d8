// SPDX-License-Identifier: Apache-2.0
//
// Cells that a sweep names and does not measure, since they make no sense or are ruled out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/results/launch_record.h"
#include "common/results/sweep_info.h"
#include "reports/table.h"

namespace tandem::reports {

inline constexpr std::string_view kDroppedTitle = "Not measured";

// A row per reason: it, and the names of its cells.
[[nodiscard]] Table dropped_table(const results::SweepInfo& sweep);

// "not measured: 3 cells: single is one device", a line per reason.
[[nodiscard]] std::vector<std::string> dropped_lines(const results::SweepInfo& sweep);

// The cell of a name as results::Cell::name() gives it, without its back end, which no name tells;
// where it is none, a cell of which the model is all of it.
[[nodiscard]] results::Cell cell_named(const std::string& name);

}  // namespace tandem::reports
