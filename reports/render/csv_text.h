// SPDX-License-Identifier: Apache-2.0
//
// Private to the CSV files: the columns that the files share, so that a reader can join their rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/summary.h"

namespace tandem::reports {

// The columns that name a cell, the same in every file.
inline constexpr std::string_view kCellColumns =
    "model,global_batch,devices,strategy,launch,backend,mode,options";
[[nodiscard]] std::vector<std::string> cell_columns(const CellSummary& summary);

// The marks that keep a cell off a curve of measured times, and the cell's fields of these columns.
inline constexpr std::string_view kMarkColumns = "modelled,planted,oversubscribed";
[[nodiscard]] std::vector<std::string> mark_columns(const CellSummary& summary);

// The options as "grads=views link=20us:1GBps"; empty without options.
[[nodiscard]] std::string options_column(const results::Cell& cell);

// Nine digits: more than any computed figure in a report means, and the same on machines whose
// mathematics libraries differ in a double's last digit.
[[nodiscard]] std::string csv_figure(double value);

// The fields joined by commas, quoted where RFC 4180 asks for quotes, with one line end, LF.
[[nodiscard]] std::string csv_row(const std::vector<std::string>& fields);

}  // namespace tandem::reports
