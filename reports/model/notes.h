// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// The marks beside an unsteady cell's figures: "drifts: +5.2 % from first to last launch", "two
// modes: 4 launches at 3.2 ms, 2 at 3.9 ms", "steps in two modes in 3 of 6 launches".
[[nodiscard]] std::vector<std::string> unsteady_marks(const Unsteadiness& found);

// A line per kind of unsteadiness, with the cells that show this kind and the meaning for their
// figures.
[[nodiscard]] std::vector<std::string> unsteady_notes(const Summary& summary);

// Launches that the plan asks for and that neither ran nor were ruled out by a skipped cell.
[[nodiscard]] int launches_missing(const results::SweepInfo& sweep, const Summary& summary);

// The notes beside a verdict that keep readers from misreading it: an unfinished sweep, cells
// without a figure and the reason, the marks of any cell.
[[nodiscard]] std::vector<std::string> notes(const results::Document& document,
                                             const Summary& summary);

}  // namespace tandem::reports
