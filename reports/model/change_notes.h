// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/model/document_change.h"

namespace tandem::reports {

// Lines about the differences between two documents besides their figures, since each may be the
// cause of a change: the machines, their software and variables, the programs, the load at the
// start; and launches that both documents hold.
[[nodiscard]] std::vector<std::string> change_notes(const results::Document& before,
                                                    const results::Document& after,
                                                    const DocumentNames& names = {});

// The cells that only one document measured, with the reason where the other document tells a
// reason.
[[nodiscard]] std::vector<std::string> lonely_cells(const Summary& before, const Summary& after,
                                                    const std::vector<CellChange>& common,
                                                    const DocumentNames& names = {});

}  // namespace tandem::reports
