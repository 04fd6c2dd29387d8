// SPDX-License-Identifier: Apache-2.0
//
// The cost of the marks between phases for the steps that carry them, where the document has the
// same steps without marks: cells that differ only in --phases=off, and step_bench's pairs
// (--ab=phases=off).
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "common/stats/estimate.h"
#include "reports/model/summary.h"

namespace tandem::reports {

struct PhaseMarksCost {
  std::string where;      // the name of the cell or of the pair's entry
  stats::Estimate ratio;  // step time with marks / without: above 1 is the cost
};

// The costs in the document's order, cells first. A cell's ratio is of launch medians; a pair's
// ratio is inverted, since step_bench writes without / with.
[[nodiscard]] std::vector<PhaseMarksCost> phase_marks_costs(const results::Document& document,
                                                            const Summary& summary);

// Sentences that compare the costs with the bar of 1 %, or that say why no cost is known and which
// command would tell.
[[nodiscard]] std::vector<std::string> phase_marks_cost_lines(const results::Document& document,
                                                              const Summary& summary);

// The options that name one measured cell to step_bench and to tandem's verbs: of ddp on the most
// devices, else of dp, else of any measured cell; empty where no cell measured. Options that say
// how a launch is timed are left out. Each word is quoted where the shell needs quotes.
[[nodiscard]] std::string example_options(const Summary& summary);

}  // namespace tandem::reports
