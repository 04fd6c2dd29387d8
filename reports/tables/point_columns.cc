// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/point_columns.h"

#include "reports/format.h"

namespace tandem::reports {

Table table_of_points(const std::vector<std::string>& figures) {
  using enum Table::Align;
  Table table{.columns = {{"model", kLeft}, {"batch", kRight}, {"devices", kRight}, {"strategy"}},
              .rows = {}};
  for (const std::string& figure : figures) table.columns.push_back({figure, kRight});
  return table;
}

std::vector<std::string> point_fields(const CellSummary& cell) {
  return {cell.cell.model, std::to_string(cell.cell.global_batch),
          std::to_string(cell.cell.devices), strategy_label(cell.cell)};
}

}  // namespace tandem::reports
