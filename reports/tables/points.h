// SPDX-License-Identifier: Apache-2.0
//
// Tables whose rows begin with a point: a model, a batch and a number of devices.
#pragma once

#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A table of these columns behind those of a point.
[[nodiscard]] TextTable table_of_points(const std::vector<std::string>& titles,
                                        const char* devices = ">devices");

// Adds a row to that table: the cell's point, then `fields`.
void add_point(TextTable& table, const results::Cell& cell, const std::vector<std::string>& fields);

}  // namespace tandem::reports
