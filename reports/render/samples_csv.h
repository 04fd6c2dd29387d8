// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/files.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// One tidy table with a row per timed step, written in parts, since there may be millions. The
// columns that name the cell come first, as in cells.csv; then the marks that keep a cell off a
// curve of measured times; then launch_index, sample (0-based, in the order of the run) and step_s,
// the time in seconds to the last digit of results.json. In free-running mode a sample is the mean
// of a batch of steps. Launches that did not measure have no rows.
void write_samples_csv(const results::TextSink& sink, const Summary& summary);

}  // namespace tandem::reports
