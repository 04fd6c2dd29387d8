// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/model/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// A row per cell: workload, devices, strategy, launches, median step, throughput, speed-up and
// efficiency against `single`, and the cell's marks.
[[nodiscard]] Table cell_table(const Summary& summary);

// The cell table with fewer figures, to fit a terminal's width.
[[nodiscard]] Table brief_cell_table(const Summary& summary);

// A row per point at which dp and ddp both measured.
[[nodiscard]] Table comparison_table(const Summary& summary);

// A row per measured cell with phase times, a column per phase: mean milliseconds and, in
// brackets, their share of the mean step.
[[nodiscard]] Table phase_table(const Summary& summary);

}  // namespace tandem::reports
