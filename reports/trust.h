// SPDX-License-Identifier: Apache-2.0
//
// Why to believe a report: what its page and its Markdown say alike.
#pragma once

#include <string>
#include <vector>

#include "reports/report.h"
#include "reports/table.h"

namespace tandem::reports {

// A sentence each: cells without a figure, how far the books close, how steady the cells are,
// whether numbers were checked, and what observing cost. What a document does not tell is said so,
// with the command that would find out.
[[nodiscard]] std::vector<std::string> trust_lines(const Report& report);

// A row per cell that has no figure: its name, its outcome and the reason.
[[nodiscard]] Table failures_table(const Summary& summary);

// The commands that measure the same again, and compare; what a document does not tell of them is
// said in a comment.
[[nodiscard]] std::vector<std::string> reproduce_commands(const results::SweepInfo& sweep);

}  // namespace tandem::reports
