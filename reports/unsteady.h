// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/summary.h"

namespace tandem::reports {

// What stands beside the cell's figures: "drifts: +5.2 % from first to last launch", "two modes: 4
// launches at 3.2 ms, 2 at 3.9 ms", "steps in two modes in 3 of 6 launches".
[[nodiscard]] std::vector<std::string> unsteady_marks(const Unsteadiness& found);

// A line per kind of unsteadiness, saying which cells show it and what it means for their figures.
[[nodiscard]] std::vector<std::string> unsteady_notes(const Summary& summary);

}  // namespace tandem::reports
