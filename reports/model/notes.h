// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// Launches that the plan asks for and that neither ran nor were ruled out by a skipped cell.
[[nodiscard]] int launches_missing(const results::SweepInfo& sweep, const Summary& summary);

// The notes beside a verdict that keep readers from misreading it: an unfinished sweep, cells
// without a figure and the reason, the marks of any cell.
[[nodiscard]] std::vector<std::string> notes(const results::Document& document,
                                             const Summary& summary);

}  // namespace tandem::reports
