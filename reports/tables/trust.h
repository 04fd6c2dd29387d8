// SPDX-License-Identifier: Apache-2.0
//
// The reasons to believe a report: what is missing, what was measured beside the steps, and how to
// measure again.
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// How far the phases account for the steps: the remainder's share over cells with phases.
[[nodiscard]] std::string remainder_line(const Summary& summary);

// A line per reason for which the sweep left cells out: "not measured: 3 cells: single is one
// device".
[[nodiscard]] std::vector<std::string> dropped_lines(const results::SweepInfo& sweep);

// A row per cell that has no figure: its name, its outcome and the reason.
[[nodiscard]] TextTable failures_table(const Summary& summary);

// The commands that repeat the measurement and compare the results; a comment names what the
// document does not say.
[[nodiscard]] std::vector<std::string> reproduce_commands(const results::SweepInfo& sweep);

// A row per entry of another program: the program, the entry's name, time and other figures, or the
// reason for missing figures.
[[nodiscard]] TextTable other_figures_table(const results::Document& document);

}  // namespace tandem::reports
