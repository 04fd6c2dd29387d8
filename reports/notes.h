// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/summary.h"

namespace tandem::reports {

// What stands beside a verdict lest it be misread: an unfinished sweep, cells without a figure and
// why, marks that any cell carries.
[[nodiscard]] std::vector<std::string> notes(const results::Document& document,
                                             const Summary& summary);

}  // namespace tandem::reports
