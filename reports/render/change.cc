// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/model/subject.h"
#include "reports/render/formats.h"
#include "reports/tables/cells.h"
#include "reports/text/format.h"
#include "reports/text/table.h"

namespace tandem::reports {
namespace {

using Json = nlohmann::ordered_json;

// The table has all cells, or those that changed.
TextTable table_of(const DocumentChange& changes, bool has_all) {
  TextTable table = table_of_points(
      {"strategy", "->A", "->B", "->n", ">time B / A", "verdict", "-remarks"}, ">dev");
  for (const CellChange& cell : changes.cells) {
    const bool is_changed =
        cell.change == stats::Change::kSlower || cell.change == stats::Change::kFaster;
    if (!has_all && !is_changed) continue;
    add_point(table, cell.before->cell,
              {strategy_label(cell.before->cell), duration_text(cell.before->median_step.center),
               duration_text(cell.after->median_step.center),
               fmt::format("{}, {}", cell.before->launches, cell.after->launches),
               change_ratio_text(cell.time_ratio), std::string(to_string(cell.change)),
               join(cell.remarks, ", ")});
  }
  return table;
}

// JSON has no infinity, so an infinite value becomes null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json estimate_json(const stats::Estimate& estimate) {
  const bool known = estimate.interval.has_value();
  return Json{{"center", number(estimate.center)},
              {"low", known ? number(estimate.interval->low) : Json(nullptr)},
              {"high", known ? number(estimate.interval->high) : Json(nullptr)}};
}

Json cell_json(const CellChange& cell, double threshold) {
  const results::Cell& what = cell.before->cell;
  return Json{{"name", what.name()},
              {"strategy", what.strategy},
              {"launch", what.launch},
              {"model", what.model},
              {"backend", what.backend},
              {"devices", what.devices},
              {"global_batch", what.global_batch},
              {"options", what.options},
              {"mode", cell.before->mode},
              {"modelled", cell.before->modelled},
              {"verdict", to_string(cell.change)},
              {"beyond_threshold", stats::is_beyond(cell.time_ratio, threshold)},
              {"time_ratio", estimate_json(cell.time_ratio)},
              {"median_step_s",
               {number(cell.before->median_step.center), number(cell.after->median_step.center)}},
              {"launches", {cell.before->launches, cell.after->launches}},
              {"remarks", cell.remarks}};
}

Json lost_json(const LostCell& lost) {
  if (lost.is_missing) return Json{{"name", lost.cell->cell.name()}, {"status", "missing"}};
  const bool is_skipped = lost.cell->failed_launches == 0;
  return Json{{"name", lost.cell->cell.name()},
              {"status", is_skipped ? "skipped" : "failed"},
              {"reason", lost.cell->reason}};
}

}  // namespace

Section tree_of(const DocumentChange& changes) {
  Section root(change_counts(changes));
  Section all(Heading{"cells", "All cells"});
  TextTable changed = table_of(changes, false);
  if (!changed.rows.empty()) root.add(Table{.table = std::move(changed), .caption = {}}, kAnswer);
  root.list(changes.notes, "notes", kEverywhere).say(change_method(changes));
  all.add(Table{.table = table_of(changes, true), .caption = all.title});
  return root.add(std::move(all));
}

std::string to_json(const DocumentChange& changes) {
  Json counts;
  for (const stats::Change change : kChanges)
    counts[std::string(to_string(change))] = changes.count(change);
  Json cells = Json::array();
  for (const CellChange& cell : changes.cells)
    cells.push_back(cell_json(cell, changes.rule.threshold));
  Json lost = Json::array();
  for (const LostCell& cell : changes.lost) lost.push_back(lost_json(cell));
  const Json json{{"threshold", changes.rule.threshold},
                  {"between_runs", changes.rule.between_runs},
                  {"confidence_together", stats::kConfidence},
                  {"confidence_of_each", changes.confidence},
                  {"counts", counts},
                  {"lost", lost},
                  {"notes", changes.notes},
                  {"cells", cells}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tandem::reports
