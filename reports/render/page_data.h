// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "reports/answer/report.h"
#include "reports/answer/trees.h"

namespace tandem::reports {

// The conditions that separate curves, in words: precision, mode, back end, oversubscription and
// modelled parts.
[[nodiscard]] std::string conditions_of(const CellSummary& cell);

// Every figure that the charts draw, computed here: the script only draws and filters. JSON that
// may stand inside a script element: the text has no "<". The first lines of the .cc file document
// it. Of many comparisons it has those on the most devices.
[[nodiscard]] std::string page_data(const Report& report,
                                    std::size_t most_comparisons = kMostCharted);

}  // namespace tandem::reports
