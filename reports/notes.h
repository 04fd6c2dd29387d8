// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/summary.h"

namespace tandem::reports {

// Launches that the plan asks for and that neither ran nor were ruled out by a skipped cell.
[[nodiscard]] int launches_missing(const results::SweepInfo& sweep, const Summary& summary);

// What stands beside a verdict lest it be misread: an unfinished sweep, cells without a figure and
// why, marks that any cell carries.
[[nodiscard]] std::vector<std::string> notes(const results::Document& document,
                                             const Summary& summary);

}  // namespace tandem::reports
