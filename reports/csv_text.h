// SPDX-License-Identifier: Apache-2.0
//
// Private to the CSV files: what they share, so that their rows can be joined.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/summary.h"

namespace tandem::reports {

// The columns that name a cell, alike in every file.
inline constexpr std::string_view kCellColumns =
    "model,global_batch,devices,strategy,launch,backend,mode,options";
[[nodiscard]] std::vector<std::string> cell_columns(const CellSummary& summary);

// What must not share a curve with measured times, and the fields of a cell.
inline constexpr std::string_view kMarkColumns = "modelled,planted,oversubscribed";
[[nodiscard]] std::vector<std::string> mark_columns(const CellSummary& summary);

// "grads=views link=20us:1GBps"; empty without options.
[[nodiscard]] std::string options_column(const results::Cell& cell);

// Nine digits: more than any computed figure here means, and the same on machines whose
// mathematics libraries differ in the last one of a double.
[[nodiscard]] std::string csv_figure(double value);

// Fields joined by commas, quoted where they must be; one line end, LF.
[[nodiscard]] std::string csv_row(const std::vector<std::string>& fields);

}  // namespace tandem::reports
