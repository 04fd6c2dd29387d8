// SPDX-License-Identifier: Apache-2.0
#include "reports/page_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "reports/format.h"
#include "reports/modelled.h"
#include "reports/phases.h"

namespace tandem::reports {
namespace {

using Json = nlohmann::ordered_json;

// Centre, low and high end; "unbounded" after them tells why there are no ends.
Json triple(const stats::Estimate& estimate) {
  if (is_unbounded(estimate)) return Json::array({estimate.center, nullptr, nullptr, "unbounded"});
  if (!estimate.interval) return Json::array({estimate.center, nullptr, nullptr});
  return Json::array({estimate.center, estimate.interval->low, estimate.interval->high});
}

Json point(const CellSummary& cell) {
  Json json{{"devices", cell.cell.devices}, {"throughput", triple(cell.throughput)}};
  if (cell.speedup) json["speedup"] = triple(*cell.speedup);
  if (cell.efficiency_above_one()) json["flag"] = "efficiency above 100 %";
  return json;
}

// A curve per strategy, launch and options.
Json series_of(const ChartGroup& group) {
  Json list = Json::array();
  std::map<std::string, std::size_t> places;
  for (const CellSummary* cell : group.cells) {
    const std::string label = strategy_label(cell->cell);
    const auto [place, is_new] = places.try_emplace(label, list.size());
    if (is_new) {
      list.push_back(Json{{"label", label},
                          {"strategy", cell->cell.strategy},
                          {"launch", cell->cell.launch},
                          {"points", Json::array()}});
    }
    list[place->second]["points"].push_back(point(*cell));
  }
  return list;
}

std::vector<std::string> phase_names(const ChartGroup& group) {
  std::set<std::string> names;
  for (const CellSummary* cell : group.cells) {
    for (const PhaseMean& phase : cell->phases) names.insert(phase.name);
  }
  return in_step_order({names.begin(), names.end()});
}

double milliseconds(const CellSummary& cell, const std::string& name) {
  for (const PhaseMean& phase : cell.phases) {
    if (phase.name == name) return phase.seconds * 1e3;
  }
  return 0;
}

Json phases_of(const ChartGroup& group) {
  std::vector<std::string> names = phase_names(group);
  Json labels = Json::array();
  Json rows = Json::array();
  for (const std::string& name : names) {
    Json row = Json::array();
    for (const CellSummary* cell : group.cells) {
      if (!cell->phases.empty()) row.push_back(milliseconds(*cell, name));
    }
    rows.push_back(row);
  }
  Json remainders = Json::array();
  for (const CellSummary* cell : group.cells) {
    if (cell->phases.empty()) continue;
    labels.push_back(fmt::format("{} on {}", strategy_label(cell->cell), cell->cell.devices));
    // A stacked bar has no room for a negative one; the table shows it.
    remainders.push_back(std::max(0.0, cell->remainder_seconds * 1e3));
  }
  names.emplace_back("remainder");
  rows.push_back(remainders);
  return Json{{"labels", labels}, {"names", names}, {"milliseconds", rows}};
}

Json group_json(const ChartGroup& group) {
  std::set<int> devices;
  Json json{{"title", group.title}};
  for (const CellSummary* cell : group.cells) {
    devices.insert(cell->cell.devices);
    if (cell->cell.strategy == "single" && is_plain(cell->cell)) {
      json["single_throughput"] = cell->throughput.center;
    }
  }
  json["devices"] = devices;
  json["series"] = series_of(group);
  if (group.has_phases()) json["phases"] = phases_of(group);
  return json;
}

Json comparison_json(const Comparison& pair) {
  const results::Cell& cell = pair.dp->cell;
  std::string label = fmt::format("{}, batch {}, {}", cell.model, cell.global_batch,
                                  count_text(cell.devices, "device"));
  if (!cell.options.empty() || !pair.ddp->cell.options.empty()) {
    label += fmt::format(" ({} / {})", strategy_label(pair.ddp->cell), strategy_label(cell));
  }
  if (!pair.dp->modelled.empty()) label += ", modelled: " + pair.dp->modelled;
  const Json figures = triple(pair.ddp_speed);
  return Json{{"label", label},
              {"center", figures[0]},
              {"low", figures[1]},
              {"high", figures[2]},
              {"verdict", to_string(pair.ddp_verdict)}};
}

std::string without_angle_brackets(const std::string& json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

bool ChartGroup::has_speedups() const {
  return std::any_of(cells.begin(), cells.end(),
                     [](const CellSummary* cell) { return cell->speedup.has_value(); });
}

bool ChartGroup::has_phases() const {
  return std::any_of(cells.begin(), cells.end(),
                     [](const CellSummary* cell) { return !cell->phases.empty(); });
}

std::vector<ChartGroup> chart_groups(const Summary& summary) {
  std::vector<ChartGroup> groups;
  std::map<
      std::tuple<std::string, std::string, std::int64_t, std::string, std::string, std::string>,
      std::size_t>
      places;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0) continue;
    const auto [place, is_new] =
        places.try_emplace(std::tuple(cell.cell.backend, cell.cell.model, cell.cell.global_batch,
                                      precision_of(cell.cell), cell.mode, cell.modelled),
                           groups.size());
    if (is_new) {
      std::string title = fmt::format("{}, batch {}", cell.cell.model, cell.cell.global_batch);
      title += precision_suffix(cell.cell);
      if (cell.mode != "synchronous") title += ", " + cell.mode;
      if (!cell.modelled.empty()) title += ", modelled: " + cell.modelled;
      groups.push_back({.title = title, .cells = {}});
    }
    groups[place->second].cells.push_back(&cell);
  }
  return groups;
}

std::string page_data(const Summary& summary, const std::vector<ChartGroup>& groups) {
  Json json{{"groups", Json::array()}, {"comparisons", Json::array()}};
  for (const ChartGroup& group : groups) json["groups"].push_back(group_json(group));
  for (const Comparison& pair : summary.comparisons) {
    json["comparisons"].push_back(comparison_json(pair));
  }
  return without_angle_brackets(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace tandem::reports
