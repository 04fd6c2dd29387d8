// SPDX-License-Identifier: Apache-2.0
#include "reports/answer/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

constexpr std::string_view kTorch = "torch-";
constexpr std::string_view kHardware = "hardware ";
constexpr std::string_view kCalibrated = "calibrated ";

bool has_throughput(const CellSummary& cell) {
  return cell.launches > 0 && !cell.cell.is_pretended();
}

std::string measured_title(const std::string& implementation) {
  if (implementation.empty()) return "Tandem, measured";
  if (!implementation.starts_with(kTorch)) return implementation + ", measured";
  return fmt::format("PyTorch {}, measured", implementation.substr(kTorch.size()));
}

// The machine of a projection, as its launches name it: "hardware dgx-a100: all times are
// simulated", or "hardware calibrated AMD EPYC, a core: ...".
std::string machine_words(const Summary& summary) {
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0) continue;
    for (const std::string& words : cell.measured.front()->modelled) {
      if (!words.starts_with(kHardware)) continue;
      return words.substr(kHardware.size(), words.rfind(": ") - kHardware.size());
    }
  }
  return "an unnamed machine";
}

// Whether the machine was calibrated, and is of the measured one's kind.
bool is_measured_machine(const std::string& words, const results::MachineFacts& machine) {
  if (!words.starts_with(kCalibrated)) return false;
  const auto device = machine.libraries.find("device");
  const std::string& name = device == machine.libraries.end() ? machine.cpu_model : device->second;
  return !name.empty() && words.find(name) != std::string::npos;
}

std::string projected_title(const ProjectedDocument& projected, const results::Document& measured) {
  const std::string words = machine_words(projected.summary);
  const bool is_calibrated = words.starts_with(kCalibrated);
  const std::string name = is_calibrated ? words.substr(kCalibrated.size()) : words;
  const bool is_same = is_measured_machine(words, machine_of(measured));
  return is_same ? fmt::format("Tandem, projected onto the measured machine ({})", name)
                 : fmt::format("Tandem, projected onto {}: not the measured machine", name);
}

std::string projected_note(const ProjectedDocument& projected) {
  const auto any = [&](auto is) { return std::ranges::any_of(projected.summary.cells, is); };
  std::string note = subject(projected.document, projected.summary) + ".";
  if (any([](const CellSummary& cell) { return cell.half_width.has_value(); })) {
    note += " Bands are of the method's errors, not of launches.";
  }
  if (any([](const CellSummary& cell) { return is_too_wide(cell.throughput); })) {
    note += " Intervals over more than a factor of three stand in the tables alone.";
  }
  return note;
}

// Samples of a device, of cells whose batch the devices divide.
using SharePoint = std::tuple<std::string, std::int64_t, std::string>;

SharePoint share_point_of(const CellSummary& cell) {
  return {cell.cell.model, cell.cell.global_batch / cell.cell.devices, cell.mode};
}

// Measured cells whose question a projection may answer, by model, samples of a device and mode.
using Questions = std::map<SharePoint, std::vector<const CellSummary*>>;

Questions questions_of(const Summary& summary) {
  Questions questions;
  for (const CellSummary& cell : summary.cells) {
    const bool counts = has_throughput(cell) && !cell.oversubscribed && cell.planted.empty() &&
                        cell.cell.global_batch % cell.cell.devices == 0;
    if (counts) questions[share_point_of(cell)].push_back(&cell);
  }
  return questions;
}

const CellSummary* answered_by(const CellSummary& projected, const Questions& questions) {
  const auto near = questions.find(share_point_of(projected));
  if (near == questions.end()) return nullptr;
  const results::Cell asked = asked_cell(projected.cell);
  const auto found = std::ranges::find_if(near->second, [&](const CellSummary* measured) {
    return same_question(asked, own_cell(measured->cell));
  });
  return found == near->second.end() ? nullptr : *found;
}

std::vector<PanelCell> answering_cells(const Summary& projected, const Questions& questions) {
  std::vector<PanelCell> cells;
  for (const CellSummary& cell : projected.cells) {
    if (cell.launches == 0 || !cell.cell.is_simulated()) continue;
    const CellSummary* const question = answered_by(cell, questions);
    if (question == nullptr) continue;
    cells.push_back(
        {.cell = &cell, .question = question, .label = strategy_label(asked_cell(cell.cell))});
  }
  return cells;
}

void add_measured(std::map<std::string, Panel>& panels, const Summary& summary) {
  for (const CellSummary& cell : summary.cells) {
    if (!has_throughput(cell)) continue;
    const std::string implementation = implementation_of(cell.cell);
    Panel& panel = panels[implementation];
    panel.title = measured_title(implementation);
    panel.cells.push_back(
        {.cell = &cell, .question = &cell, .label = strategy_label(own_cell(cell.cell))});
  }
}

std::vector<Panel> projected_panels(const Report& report) {
  std::vector<Panel> panels;
  if (report.projected.empty()) return panels;
  const Questions questions = questions_of(report.summary);
  std::set<std::string> titles;
  for (const ProjectedDocument& projected : report.projected) {
    Panel panel{.title = projected_title(projected, report.document),
                .note = projected_note(projected),
                .projected = &projected.summary,
                .cells = answering_cells(projected.summary, questions)};
    if (panel.cells.empty()) continue;
    if (!titles.insert(panel.title).second) panel.title += fmt::format(" ({})", projected.name);
    panels.push_back(std::move(panel));
  }
  return panels;
}

std::string share_text(const results::Cell& cell) {
  return fmt::format("{:g}", static_cast<double>(cell.global_batch) / cell.devices);
}

// What a row of the tables answers; of a projection, the measured cell's.
std::string question_words(const PanelCell& one) {
  const results::Cell& cell = one.cell->cell;
  return fmt::format("{} {} {} {}", cell.model, share_text(cell), one.cell->mode,
                     precision_of(one.question->cell));
}

// In how many panels each question is answered.
std::map<std::string, std::size_t> answers_to_each(const std::vector<Panel>& panels) {
  std::map<std::string, std::set<const Panel*>> answering;
  for (const Panel& panel : panels) {
    for (const PanelCell& one : panel.cells) answering[question_words(one)].insert(&panel);
  }
  std::map<std::string, std::size_t> counts;
  for (const auto& [question, of] : answering) counts[question] = of.size();
  return counts;
}

TextTable table_of(std::vector<PanelCell> rows) {
  std::ranges::stable_sort(rows, {}, [](const PanelCell& one) {
    const results::Cell& cell = one.cell->cell;
    return std::tuple(cell.model, cell.global_batch / cell.devices, cell.devices);
  });
  TextTable table({"model", ">samples per device", ">devices", "strategy", ">samples per second",
                   ">median step"});
  for (const PanelCell& one : rows) {
    const results::Cell& cell = one.cell->cell;
    table.rows.push_back({cell.model, share_text(cell), std::to_string(cell.devices), one.label,
                          rate_text(one.cell->throughput), duration_text(one.cell->median_step)});
  }
  return table;
}

// Whether all figures are of one implementation, and nothing was projected.
bool is_of_one_source(const Report& report) {
  if (!report.projected.empty()) return false;
  std::set<std::string> implementations;
  for (const CellSummary& cell : report.summary.cells) {
    if (has_throughput(cell)) implementations.insert(implementation_of(cell.cell));
  }
  return implementations.size() < 2;
}

}  // namespace

std::vector<Panel> panels_of(const Report& report) {
  std::vector<Panel> panels;
  if (is_of_one_source(report)) return panels;
  std::map<std::string, Panel> measured;
  add_measured(measured, report.summary);
  for (auto& [implementation, panel] : measured) panels.push_back(std::move(panel));
  for (Panel& panel : projected_panels(report)) panels.push_back(std::move(panel));
  return panels.size() < 2 ? std::vector<Panel>{} : panels;
}

std::vector<std::string> projections_apart(const Report& report) {
  std::vector<std::string> names;
  const Questions questions = questions_of(report.summary);
  for (const ProjectedDocument& projected : report.projected) {
    if (answering_cells(projected.summary, questions).empty()) names.push_back(projected.name);
  }
  return names;
}

std::vector<TextTable> panel_tables(const std::vector<Panel>& panels) {
  const auto answers = answers_to_each(panels);
  std::vector<TextTable> tables;
  for (const Panel& panel : panels) {
    std::vector<PanelCell> rows;
    std::ranges::copy_if(panel.cells, std::back_inserter(rows),
                         [&](const PanelCell& one) { return answers.at(question_words(one)) > 1; });
    tables.push_back(table_of(std::move(rows)));
  }
  return tables;
}

}  // namespace tandem::reports
