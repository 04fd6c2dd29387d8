// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/results/files.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// One tidy table: a row per cell, independent variables first, then measured ones in SI units. A
// figure that does not exist is empty, never 0; so is an interval's end that is unbounded or, as
// the low end of a mean time may be, below zero; only differences and shares have ends below zero.
// Fields are quoted as RFC 4180 says, lines end with LF. docs/results.md explains the columns; new
// columns come last.
[[nodiscard]] std::string to_csv(const Summary& summary);

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
