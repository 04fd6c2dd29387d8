// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/results/document.h"
#include "reports/table.h"

namespace tandem::reports {

inline constexpr std::string_view kOtherFiguresTitle = "Measured beside the steps";

// A row per entry of another program: the program, the entry's name, time and other figures, or the
// reason for missing figures.
[[nodiscard]] Table other_figures_table(const results::Document& document);

}  // namespace tandem::reports
