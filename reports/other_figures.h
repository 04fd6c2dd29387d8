// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "common/results/document.h"
#include "reports/table.h"

namespace tandem::reports {

inline constexpr std::string_view kOtherFiguresTitle = "Measured beside the steps";

// A row per entry of another program: who measured it, what, its time and its other figures, or why
// there are none.
[[nodiscard]] Table other_figures_table(const results::Document& document);

}  // namespace tandem::reports
