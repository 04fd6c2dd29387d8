// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/points.h"

namespace tandem::reports {

TextTable table_of_points(const std::vector<std::string>& titles, const char* devices) {
  TextTable table({"model", ">batch", devices});
  table.add_columns(titles);
  return table;
}

void add_point(TextTable& table, const results::Cell& cell,
               const std::vector<std::string>& fields) {
  std::vector<std::string> row{cell.model, std::to_string(cell.global_batch),
                               std::to_string(cell.devices)};
  row.insert(row.end(), fields.begin(), fields.end());
  table.rows.push_back(row);
}

}  // namespace tandem::reports
