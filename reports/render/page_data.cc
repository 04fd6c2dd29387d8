// SPDX-License-Identifier: Apache-2.0
//
// The page's data, by columns:
//   texts: [string]; a number that stands for a text is its place here
//   cells: a list per name, with an entry per cell, null where the cell has none. model, strategy,
//     label, bare (the label without its panel's source) and conditions are texts; a figure is
//     [centre, low, high, "unbounded"?], without an interval [centre, null, null]. throughput,
//     speedup, efficiency, weakSpeedup and weakEfficiency are figures; ideal and weakIdeal samples
//     per second of so many devices, each as fast as single on the same batch, and on one device's
//     share of it; mean of a cell with phases and phases in milliseconds, panel the place of its
//     panel
//   projected: the same of projections, whose conditions are those of the measured question
//   panels, where several sources measured or projected: [{title, note, projected: true}]
//   lead: {model, batch} of the largest lead beyond doubt, where there is one
//   phases: names in the order of a step, the remainder last
//   pairs: [{label, center, low, high, verdict, equal, work}], ddp's speed over dp's; equal, where
//     shown: "equal within 3 %"; work, of pretended GPUs alone: true, and it is the host's work of
//     dp over ddp's
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "common/options/strategies.h"
#include "reports/answer/panels.h"
#include "reports/model/phases.h"
#include "reports/model/subject.h"
#include "reports/model/summary.h"
#include "reports/render/formats.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

using enum options::StrategyKind;

using Json = nlohmann::ordered_json;

// The value to six digits: more digits than any figure of the page means, and half the bytes.
double brief(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

// The centre, low and high end; a following "unbounded" says why the ends are missing.
Json triple(const stats::Estimate& estimate, double scale = 1) {
  const double center = brief(scale * estimate.center);
  if (is_unbounded(estimate)) return Json::array({center, nullptr, nullptr, "unbounded"});
  if (!estimate.interval) return Json::array({center, nullptr, nullptr});
  return Json::array(
      {center, brief(scale * estimate.interval->low), brief(scale * estimate.interval->high)});
}

Json pair_json(const StrategyPair& pair) {
  const results::Cell& cell = pair.dp->cell;
  std::string label = point_text(cell);
  if (!cell.options.empty() || !pair.ddp->cell.options.empty()) {
    label += fmt::format(" ({} / {})", strategy_label(pair.ddp->cell), strategy_label(cell));
  }
  if (!pair.dp->modelled.empty()) label += ", modelled: " + pair.dp->modelled;
  const Json figures = triple(pair.ddp_speed);
  Json json{{"label", label},
            {"center", figures[0]},
            {"low", figures[1]},
            {"high", figures[2]},
            {"verdict", to_string(pair.ddp_verdict)}};
  if (cell.is_pretended()) json["work"] = true;
  if (pair.equal_within) json["equal"] = equal_text(*pair.equal_within);
  return json;
}

// At most `most` comparisons, on the most devices first, since comparisons on few devices say
// least.
Json pairs_json(const Summary& summary, std::size_t most) {
  std::vector<const StrategyPair*> pairs;
  for (const StrategyPair& pair : summary.comparisons) pairs.push_back(&pair);
  if (pairs.size() > most) {
    std::ranges::stable_sort(pairs, [](const auto* a, const auto* b) {
      return a->dp->cell.devices > b->dp->cell.devices;
    });
  }
  pairs.resize(std::min(pairs.size(), most));
  Json list = Json::array();
  for (const StrategyPair* pair : pairs) list.push_back(pair_json(*pair));
  return list;
}

class Texts {
 public:
  std::size_t place(const std::string& text) {
    const auto [found, is_new] = places_.try_emplace(text, list_.size());
    if (is_new) list_.push_back(text);
    return found->second;
  }
  [[nodiscard]] const std::vector<std::string>& list() const { return list_; }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<std::string> list_;
};

std::string strategy_of(const results::Cell& cell) {
  return cell.strategy == name_of(kIndependent) ? cell.strategy + "-" + cell.launch : cell.strategy;
}

// The phase times by name. A stacked bar has no room for a negative remainder, which the table
// shows.
Json phases_of(const CellSummary& cell, const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) {
    double seconds = 0;
    for (const PhaseMean& phase : cell.phases) {
      if (phase.name == name) seconds = phase.seconds;
    }
    list.push_back(brief(seconds * 1e3));
  }
  list.push_back(brief(std::max(0.0, cell.remainder_seconds * 1e3)));
  return list;
}

// Adds the throughput that the cell's devices would have if each were as fast as `single` with this
// batch.
void add_ideal(Json& json, const char* name, const CellSummary& cell, std::int64_t batch,
               const Summary& summary) {
  if (!implementation_of(cell.cell).empty()) return;  // the line is Tandem's single
  const CellSummary* one = cell.cell.strategy == name_of(kSingle) && batch == cell.cell.global_batch
                               ? &cell
                               : baseline_of(cell, batch, summary.cells);
  if (one != nullptr) json[name] = brief(one->throughput.center * cell.cell.devices);
}

void add_weak(Json& json, const CellSummary& cell) {
  if (!cell.weak_efficiency) return;
  json["weakEfficiency"] = triple(*cell.weak_efficiency);
  json["weakSpeedup"] = triple(*cell.weak_efficiency, cell.cell.devices);
}

void add_scaling(Json& json, const CellSummary& cell, const Summary& summary) {
  add_weak(json, cell);
  add_ideal(json, "ideal", cell, cell.cell.global_batch, summary);
  if (cell.cell.global_batch % cell.cell.devices == 0) {
    add_ideal(json, "weakIdeal", cell, cell.cell.global_batch / cell.cell.devices, summary);
  }
}

Json scaling_figures_of(const CellSummary& cell) {
  Json json{{"launches", cell.launches}, {"samples", cell.samples}};
  if (!cell.cell.is_pretended()) json["throughput"] = triple(cell.throughput);
  if (cell.speedup) json["speedup"] = triple(*cell.speedup);
  if (cell.efficiency_above_one()) json["flag"] = "efficiency above 100 %";
  if (const auto efficiency = cell.efficiency()) json["efficiency"] = triple(*efficiency);
  return json;
}

Json figures_of(const CellSummary& cell, const std::vector<std::string>& phases) {
  Json json = scaling_figures_of(cell);
  if (!cell.phases.empty()) {
    json["phases"] = phases_of(cell, phases);
    json["mean"] = triple(cell.mean_step, 1e3);
  }
  return json;
}

// `conditions` are those of the cell's question.
Json place_of(const CellSummary& cell, const std::string& conditions, Texts& texts) {
  return Json{{"model", texts.place(cell.cell.model)},
              {"parameters", cell.measured.front()->model.parameters},
              {"batch", cell.cell.global_batch},
              {"devices", cell.cell.devices},
              {"strategy", texts.place(strategy_of(cell.cell))},
              {"label", texts.place(strategy_label(cell.cell))},
              {"conditions", texts.place(conditions)},
              {"modelled", !cell.modelled.empty()}};
}

struct PanelPlace {
  std::size_t panel = 0;
  const PanelCell* cell = nullptr;
};

// Where measured cells stand.
using PanelPlaces = std::map<const CellSummary*, PanelPlace>;

PanelPlaces places_in(const std::vector<Panel>& panels) {
  PanelPlaces places;
  for (std::size_t at = 0; at < panels.size(); ++at) {
    if (panels[at].projected != nullptr) continue;
    for (const PanelCell& cell : panels[at].cells) places[cell.cell] = {at, &cell};
  }
  return places;
}

Json projected_json(const std::vector<Panel>& panels, Texts& texts) {
  Json list = Json::array();
  for (std::size_t at = 0; at < panels.size(); ++at) {
    if (panels[at].projected == nullptr) continue;
    for (const PanelCell& one : panels[at].cells) {
      Json json = place_of(*one.cell, conditions_of(*one.question), texts);
      json.update(Json{{"panel", at}, {"bare", texts.place(one.label)}});
      json.update(scaling_figures_of(*one.cell));
      add_scaling(json, *one.cell, *panels[at].projected);
      list.push_back(std::move(json));
    }
  }
  return list;
}

Json panels_json(const std::vector<Panel>& panels) {
  Json list = Json::array();
  for (const Panel& panel : panels) {
    Json json{{"title", panel.title}, {"note", panel.note}};
    if (panel.projected != nullptr) json["projected"] = true;
    list.push_back(std::move(json));
  }
  return list;
}

Json cells_json(const Summary& summary, const std::vector<std::string>& phases,
                const PanelPlaces& places, Texts& texts) {
  Json list = Json::array();
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0) continue;
    Json json = place_of(cell, conditions_of(cell), texts);
    if (const auto place = places.find(&cell); place != places.end()) {
      json.update(
          Json{{"panel", place->second.panel}, {"bare", texts.place(place->second.cell->label)}});
    }
    json.update(figures_of(cell, phases));
    add_scaling(json, cell, summary);
    list.push_back(std::move(json));
  }
  return list;
}

// The objects as an object of columns.
Json in_columns(const Json& objects) {
  Json columns = Json::object();
  for (const Json& one : objects) {
    for (const auto& [name, value] : one.items()) columns[name] = Json::array();
  }
  for (auto& [name, column] : columns.items()) {
    for (const Json& one : objects) {
      column.push_back(one.contains(name) ? one[name] : Json(nullptr));
    }
  }
  return columns;
}

}  // namespace

std::string conditions_of(const CellSummary& cell) {
  std::string text = precision_of(cell.cell) + ", " + cell.mode;
  if (cell.cell.backend != "host") text += ", " + cell.cell.backend;
  if (cell.oversubscribed) text += ", oversubscribed";
  if (!cell.planted.empty()) text += ", planted: " + cell.planted;
  if (!cell.modelled.empty()) text += ", modelled: " + models_but_lock(cell);
  return text;
}

std::string page_data(const Report& report, std::size_t most_comparisons) {
  const Summary& summary = report.summary;
  std::vector<std::string> phases = phases_in(summary);
  Texts texts;
  const std::vector<Panel> panels = panels_of(report);
  const Json cells = cells_json(summary, phases, places_in(panels), texts);
  const Json projected = projected_json(panels, texts);
  phases.emplace_back("remainder");
  Json json{{"texts", texts.list()},
            {"phases", phases},
            {"cells", in_columns(cells)},
            {"pairs", pairs_json(summary, most_comparisons)}};
  if (!panels.empty()) json["panels"] = panels_json(panels);
  if (!report.verdict.lead_model.empty()) {
    json["lead"] = Json{{"model", report.verdict.lead_model}, {"batch", report.verdict.lead_batch}};
  }
  if (!projected.empty()) json["projected"] = in_columns(projected);
  std::string text;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    text += c == '<' ? "\\u003c" : std::string_view(&c, 1);
  }
  return text;
}

}  // namespace tandem::reports
