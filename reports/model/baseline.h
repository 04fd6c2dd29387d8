// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "reports/model/summary.h"

namespace tandem::reports {

// The cell of `single` on the cell's model with this batch, in the same precision, with the same
// optimizer and modelled parts, replayed where the cell is replayed; where several fit, the one
// without options. nullptr where no such cell measured. `cells` are sorted as a summary's.
[[nodiscard]] const CellSummary* baseline_of(const CellSummary& summary, std::int64_t batch,
                                             const std::vector<CellSummary>& cells);

}  // namespace tandem::reports
