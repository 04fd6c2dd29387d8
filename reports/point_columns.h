// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// A table whose rows begin with a cell's model, batch, devices and strategy; then come these.
[[nodiscard]] Table table_of_points(const std::vector<std::string>& figures);

// The first fields of such a row.
[[nodiscard]] std::vector<std::string> point_fields(const CellSummary& cell);

}  // namespace tandem::reports
