// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/results/files.h"
#include "common/results/sweep_info.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// Private to the CSV files: the columns that the files share, so that a reader can join their rows.

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

// One tidy table: a row per cell, independent variables first, then measured ones in SI units. A
// figure that does not exist is empty, never 0; so is an interval's end that is unbounded or, as
// the low end of a mean time may be, below zero; only differences and shares have ends below zero.
// Fields are quoted as RFC 4180 says, lines end with LF. METHODOLOGY.md explains the columns; new
// columns come last. Cells that the sweep left out (`dropped`) stand below, with the status
// "dropped", the reason and no figures.
[[nodiscard]] std::string to_csv(const Summary& summary,
                                 const std::vector<results::DroppedCells>& dropped = {});

// One tidy table with a row per point at which dp and ddp are compared: the point, the median
// steps, the ratio of speeds with its interval, and the verdict on ddp. Figures are written as in
// cells.csv.
[[nodiscard]] std::string to_comparisons_csv(const Summary& summary);

// One tidy table with a row per timed step, written in parts, since there may be millions. The
// columns that name the cell come first, as in cells.csv; then the marks that keep a cell off a
// curve of measured times; then launch_index, sample (0-based, in the order of the run) and step_s,
// the time in seconds to the last digit of results.json. In free-running mode a sample is the mean
// of a batch of steps. Launches that did not measure have no rows.
void write_samples_csv(const results::TextSink& sink, const Summary& summary);

}  // namespace tandem::reports
