// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/results/document.h"
#include "common/results/sweep_info.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A row per entry of another program: the program, the entry's name, time and other figures, or the
// reason for missing figures.
[[nodiscard]] TextTable other_figures_table(const results::Document& document);

// The rows are the sources of copies, the columns the destinations: "412.5 (6.1 us)". No rows where
// nothing was measured.
[[nodiscard]] TextTable link_table(const results::LinkMatrix& links);

// How the links' figures were measured, or why there are none.
[[nodiscard]] std::string link_note(const results::LinkMatrix& links);

}  // namespace tandem::reports
