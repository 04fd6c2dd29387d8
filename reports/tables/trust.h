// SPDX-License-Identifier: Apache-2.0
//
// The reasons to believe a report, the same on its page and in its Markdown.
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A sentence each: cells without a figure, how far the phases account for the steps, how steady the
// cells are, whether numbers were checked, and the cost of observing. A sentence also names what a
// document does not tell, with the command that would find out.
[[nodiscard]] std::vector<std::string> trust_lines(const results::Document& document,
                                                   const Summary& summary);

// A row per cell that has no figure: its name, its outcome and the reason.
[[nodiscard]] TextTable failures_table(const Summary& summary);

// The commands that repeat the measurement and compare the results; a comment names what the
// document does not tell.
[[nodiscard]] std::vector<std::string> reproduce_commands(const results::SweepInfo& sweep);

}  // namespace tandem::reports
