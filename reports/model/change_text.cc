// SPDX-License-Identifier: Apache-2.0
#include "reports/model/change_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/format.h"
#include "reports/table.h"

namespace tandem::reports {
namespace {

using Align = Table::Align;
using Json = nlohmann::ordered_json;
using stats::Change;

constexpr std::array kChanges{Change::kSlower, Change::kFaster, Change::kSame, Change::kUnsure};

std::vector<std::string> row_of(const CellChange& cell) {
  const results::Cell& what = cell.before->cell;
  return {what.model,
          std::to_string(what.global_batch),
          std::to_string(what.devices),
          strategy_label(what),
          duration_text({.center = cell.before->median_step.center, .interval = {}, .launches = 0}),
          duration_text({.center = cell.after->median_step.center, .interval = {}, .launches = 0}),
          fmt::format("{}, {}", cell.before->launches, cell.after->launches),
          change_ratio_text(cell.time_ratio),
          std::string(to_string(cell.change)),
          join(cell.remarks, ", ")};
}

Table table_of(const DocumentChange& changes) {
  Table table;
  table.columns = {{"model", Align::kLeft},   {"batch", Align::kRight},
                   {"dev", Align::kRight},    {"strategy", Align::kLeft},
                   {"A", Align::kRight},      {"B", Align::kRight},
                   {"n", Align::kRight},      {"time B / A", Align::kRight},
                   {"verdict", Align::kLeft}, {"remarks", Align::kLeft}};
  for (const CellChange& cell : changes.cells) table.rows.push_back(row_of(cell));
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
              {"rank_ratio", estimate_json(cell.rank_ratio)},
              {"rank_p", number(cell.rank_p)},
              {"remarks", cell.remarks}};
}

}  // namespace

std::string change_ratio_text(const stats::Estimate& ratio) {
  const auto is_usual = [](double value) { return value >= 0.01 && value < 100; };
  const bool usual =
      is_usual(ratio.center) &&
      (!ratio.interval || (is_usual(ratio.interval->low) && is_usual(ratio.interval->high)));
  if (!usual) return ratio_text(ratio);
  if (!ratio.interval) return fmt::format("{:.3f}x", ratio.center);
  return fmt::format("{:.3f}x [{:.3f} .. {:.3f}]", ratio.center, ratio.interval->low,
                     ratio.interval->high);
}

std::string change_method(const DocumentChange& changes, const DocumentNames& names) {
  if (changes.confidence == 0) return "No cell has two launches on both sides: nothing is judged.";
  const double between = changes.rule.between_runs;
  return fmt::format(
      "Ratios of launch medians; above 1 {} is slower. The intervals hold together with 95 %, each "
      "with {:.4g} %{}. SAME: within {:g} % either way. UNSURE: too wide to tell; more launches "
      "narrow it.",
      names.after, 100 * changes.confidence,
      between > 0 ? fmt::format(", and hold a scatter of {:g} % between runs", 100 * between) : "",
      100 * changes.rule.threshold);
}

std::string change_counts(const DocumentChange& changes) {
  std::vector<std::string> parts;
  for (const Change change : kChanges) {
    parts.push_back(fmt::format("{} {}", changes.count(change), to_string(change)));
  }
  return fmt::format("{}: {}.", count_text(std::ssize(changes.cells), "cell"), join(parts, ", "));
}

std::string to_text(const DocumentChange& changes) {
  std::string text = to_text(table_of(changes)) + "\n" + change_method(changes) + "\n";
  for (const std::string& line : changes.notes) text += "  ! " + line + "\n";
  return text + change_counts(changes) + "\n";
}

std::string to_json(const DocumentChange& changes) {
  Json counts;
  for (const Change change : kChanges)
    counts[std::string(to_string(change))] = changes.count(change);
  Json cells = Json::array();
  for (const CellChange& cell : changes.cells)
    cells.push_back(cell_json(cell, changes.rule.threshold));
  const Json json{{"threshold", changes.rule.threshold},
                  {"between_runs", changes.rule.between_runs},
                  {"confidence_together", stats::kConfidence},
                  {"confidence_of_each", changes.confidence},
                  {"counts", counts},
                  {"notes", changes.notes},
                  {"cells", cells}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tandem::reports
