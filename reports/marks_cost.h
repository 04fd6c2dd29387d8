// SPDX-License-Identifier: Apache-2.0
//
// What the marks between phases cost the steps that they ride on, where the document has the same
// steps without: cells that differ in --phases=off alone, and step_bench's pairs (--ab=phases=off).
#pragma once

#include <string>
#include <vector>

#include "common/stats/estimate.h"
#include "reports/report.h"

namespace tandem::reports {

struct MarksCost {
  std::string where;      // the cell's name, or the entry of the pairs
  stats::Estimate ratio;  // step time with marks / without: above 1 is what they cost
};

// Of cells: a ratio of launch medians. Of pairs: the inverse of their ratio, which is without /
// with. In the document's order, cells first.
[[nodiscard]] std::vector<MarksCost> marks_costs(const Report& report);

// In words, held against the bar of 1 %, or why nothing is known and the command that would tell.
[[nodiscard]] std::vector<std::string> marks_cost_lines(const Report& report);

}  // namespace tandem::reports
