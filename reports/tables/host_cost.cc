// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/host_cost.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "reports/format.h"
#include "reports/tables/point_columns.h"

namespace tandem::reports {
namespace {

// The key that a synchronous cell shares with its free-running counterpart.
std::pair<std::string, std::string> place_of(const CellSummary& summary) {
  results::Cell cell = summary.cell;
  cell.options.erase("free-running");
  return {cell.backend, cell.name()};
}

}  // namespace

Table mode_table(const Summary& summary) {
  Table table = table_of_points(
      {"mean step, synchronous [95 %]", "mean step, free-running [95 %]", "saved by not waiting"});
  std::map<std::pair<std::string, std::string>, const CellSummary*> synchronous;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches > 0 && cell.mode == "synchronous") {
      synchronous[place_of(cell)] = &cell;
    }
  }
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 || cell.mode != "free-running") continue;
    const auto found = synchronous.find(place_of(cell));
    if (found == synchronous.end()) continue;
    const stats::Estimate& waiting = found->second->mean_step;
    std::vector<std::string> row = point_fields(cell);
    row.insert(row.end(),
               {duration_text(waiting), duration_text(cell.mean_step),
                fmt::format("{:.1f} %", 100 * (1 - cell.mean_step.center / waiting.center))});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tandem::reports
