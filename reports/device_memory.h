// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reports/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// Peak bytes by device: of each the most over the cell's launches. Empty where none was told.
[[nodiscard]] std::vector<std::int64_t> peak_memory(const CellSummary& cell);

// Peak of device 0 over the mean peak of the others: 1 where the root bears no more than they.
// Absent for one device, and where the others have none.
[[nodiscard]] std::optional<double> root_burden(const std::vector<std::int64_t>& peaks);

// A row for each measured cell of several devices.
[[nodiscard]] Table memory_table(const Summary& summary);

}  // namespace tandem::reports
