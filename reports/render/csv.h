// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/sweep_info.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// One tidy table: a row per cell, independent variables first, then measured ones in SI units. A
// figure that does not exist is empty, never 0; so is an interval's end that is unbounded or, as
// the low end of a mean time may be, below zero; only differences and shares have ends below zero.
// Fields are quoted as RFC 4180 says, lines end with LF. METHODOLOGY.md explains the columns; new
// columns come last. Cells that the sweep left out (`dropped`) stand below, with the status
// "dropped", the reason and no figures.
[[nodiscard]] std::string to_csv(const Summary& summary,
                                 const std::vector<results::DroppedCells>& dropped = {});

}  // namespace tandem::reports
