// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "reports/summary.h"

namespace tandem::reports {

// `single` on the cell's model with this batch, in the same precision, with the same optimizer and
// on the same models, replayed where the cell is; one without options where there is a choice.
// nullptr where none of them measured. `cells` are sorted as a summary's.
[[nodiscard]] const CellSummary* baseline_of(const CellSummary& summary, std::int64_t batch,
                                             const std::vector<CellSummary>& cells);

}  // namespace tandem::reports
