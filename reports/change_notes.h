// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/document_change.h"

namespace tandem::reports {

// What differs between the documents besides their figures, any of which may be why these do: the
// machines, their software and variables, the programs, the load at the start; and launches that
// both hold. A line each.
[[nodiscard]] std::vector<std::string> change_notes(const results::Document& before,
                                                    const results::Document& after,
                                                    const DocumentNames& names = {});

// Cells that one document alone measured, with the reason where the other one tells it.
[[nodiscard]] std::vector<std::string> lonely_cells(const Summary& before, const Summary& after,
                                                    const std::vector<CellChange>& common,
                                                    const DocumentNames& names = {});

}  // namespace tandem::reports
