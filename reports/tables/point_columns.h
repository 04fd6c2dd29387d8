// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// A table whose rows begin with a cell's model, batch, devices and strategy, followed by `figures`.
[[nodiscard]] Table table_of_points(const std::vector<std::string>& figures);

// The first fields of a row of that table.
[[nodiscard]] std::vector<std::string> point_fields(const CellSummary& cell);

}  // namespace tandem::reports
