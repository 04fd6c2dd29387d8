// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/files.h"
#include "reports/summary.h"

namespace tandem::reports {

// One tidy table: a row per timed step, in parts, since there may be millions. First the columns
// that name the cell, as in cells.csv; then what must not share a curve with measured times; then
// launch_index, sample (0-based, in the order in which they ran) and step_s, the time in seconds to
// the last digit that results.json has. Free-running, a sample is the mean of a batch of steps.
// Launches that did not measure have no rows.
void write_samples_csv(const results::TextSink& sink, const Summary& summary);

}  // namespace tandem::reports
