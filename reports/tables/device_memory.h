// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reports/model/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// The peak bytes of each device, the most over the cell's launches; empty where no launch tells
// peaks.
[[nodiscard]] std::vector<std::int64_t> peak_memory(const CellSummary& cell);

// The peak of device 0 over the mean peak of the other devices: 1 where the root bears no more than
// the others. Absent for one device, and where the other devices have no peaks.
[[nodiscard]] std::optional<double> root_burden(const std::vector<std::int64_t>& peaks);

// A row per measured cell of several devices.
[[nodiscard]] Table memory_table(const Summary& summary);

}  // namespace tandem::reports
