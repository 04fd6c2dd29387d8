// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/weak_scaling.h"

#include "reports/format.h"
#include "reports/tables/point_columns.h"

namespace tandem::reports {

Table weak_table(const Summary& summary) {
  Table table = table_of_points(
      {"batch per device", "efficiency of weak scaling [95 %]", "speed-up of weak scaling [95 %]"});
  for (const CellSummary& cell : summary.cells) {
    if (!cell.weak_efficiency || cell.cell.devices < 2) continue;
    const stats::Estimate& weak = *cell.weak_efficiency;
    std::vector<std::string> row = point_fields(cell);
    row.insert(row.end(), {std::to_string(cell.cell.global_batch / cell.cell.devices),
                           whole_percent_text(weak),
                           ratio_text(stats::divided(weak, 1.0 / cell.cell.devices))});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tandem::reports
