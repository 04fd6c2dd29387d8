// SPDX-License-Identifier: Apache-2.0
#include "reports/model/phase_marks_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/options/strategies.h"
#include "common/options/values.h"
#include "common/stats/comparison.h"
#include "reports/model/document_change.h"
#include "reports/model/figure_text.h"
#include "reports/model/subject.h"

namespace tandem::reports {

namespace {

using enum options::StrategyKind;

int rank_of(const CellSummary& cell) {
  if (cell.cell.strategy == name_of(kDdp)) return 3;
  if (cell.cell.strategy == name_of(kDp)) return 2;
  return cell.cell.strategy == name_of(kSingle) ? 0 : 1;
}

// The cell of Tandem's own that readers ask about most.
const CellSummary* chosen(const Summary& summary) {
  const CellSummary* best = nullptr;
  const auto key = [](const CellSummary& cell) {
    return std::pair(rank_of(cell), cell.cell.devices);
  };
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 || !implementation_of(cell.cell).empty()) continue;
    if (best == nullptr || key(cell) > key(*best)) best = &cell;
  }
  return best;
}

bool says_how_to_time(const std::string& name) {
  const options::Option* const option = options::find_option(name);
  return option != nullptr && (option->of.group == options::Group::kTiming ||
                               option->of.group == options::Group::kDebug);
}

constexpr double kBar = 1.01;  // docs/method/phases.md#what-observing-costs

// The identity that a cell with marks shares with the cell without marks.
CellIdentity without_choice(CellSummary cell) {
  cell.cell.options.erase("phases");
  return identity_of(cell);
}

bool has_no_marks(const CellSummary& cell) { return cell.cell.option("phases") == "off"; }

void add_cells(std::vector<PhaseMarksCost>& costs, const Summary& summary) {
  std::map<CellIdentity, const CellSummary*> with;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches > 0 && !has_no_marks(cell)) with[identity_of(cell)] = &cell;
  }
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 || !has_no_marks(cell)) continue;
    const auto found = with.find(without_choice(cell));
    if (found == with.end()) continue;
    costs.push_back({.where = found->second->cell.name(), .ratio = ratio_of(*found->second, cell)});
  }
}

std::optional<double> figure(const results::OtherEntry& entry, const std::string& name) {
  for (const auto& [key, value] : entry.figures()) {
    if (key == name && value > 0) return value;
  }
  return std::nullopt;
}

void add_pairs(std::vector<PhaseMarksCost>& costs, const results::Document& document) {
  for (const results::OtherEntry& entry : document.others) {
    if (entry.name().find("/against:phases=off") == std::string::npos) continue;
    const std::optional<double> ratio = figure(entry, "ratio");
    const std::optional<double> low = figure(entry, "ratio_low");
    const std::optional<double> high = figure(entry, "ratio_high");
    if (!ratio) continue;
    stats::Estimate inverse{.center = 1 / *ratio, .interval = std::nullopt, .launches = 0};
    if (low && high) inverse.interval = stats::Interval{.low = 1 / *high, .high = 1 / *low};
    costs.push_back({.where = entry.name(), .ratio = inverse});
  }
}

std::string judged(const stats::Estimate& ratio) {
  if (!ratio.interval) return "too few to tell";
  if (ratio.interval->high < kBar) return "under 1 %";
  return ratio.interval->low > kBar ? "more than 1 %: these steps are slower than unobserved ones"
                                    : "whether that is under 1 % is not resolved";
}

// The command line of step_bench for the cell of example_options(); empty where no cell measured.
std::string bench_command(const Summary& summary) {
  const CellSummary* cell = chosen(summary);
  if (cell == nullptr) return "";
  const bool is_a_job = cell->cell.launch == "processes" && cell->cell.devices > 1;
  const std::string launcher =
      is_a_job ? fmt::format("mpirun -np {} --bind-to none ", cell->cell.devices) : "";
  return launcher + "step_bench " + example_options(summary);
}

bool has_marks(const Summary& summary) {
  return std::ranges::any_of(summary.cells,
                             [](const CellSummary& cell) { return !cell.phases.empty(); });
}

}  // namespace

std::string example_options(const Summary& summary) {
  const CellSummary* cell = chosen(summary);
  if (cell == nullptr) return "";
  const results::Cell& what = cell->cell;
  std::string words = fmt::format("--strategy={} {} --devices={} --batch={} --backend={}",
                                  shell_word(what.strategy), shell_word("--model=" + what.model),
                                  what.devices, what.global_batch, shell_word(what.backend));
  if (what.strategy == name_of(kIndependent))
    words += fmt::format(" --launch={}", shell_word(what.launch));
  for (const auto& [name, value] : what.options) {
    if (!says_how_to_time(name))
      words += fmt::format(" {}", shell_word(fmt::format("--{}={}", name, value)));
  }
  return words;
}

std::vector<PhaseMarksCost> phase_marks_costs(const results::Document& document,
                                              const Summary& summary) {
  std::vector<PhaseMarksCost> costs;
  add_cells(costs, summary);
  add_pairs(costs, document);
  return costs;
}

std::vector<std::string> phase_marks_cost_lines(const results::Document& document,
                                                const Summary& summary) {
  std::vector<std::string> lines;
  for (const PhaseMarksCost& cost : phase_marks_costs(document, summary)) {
    lines.push_back(
        fmt::format("Instrumentation: step with marks between phases / without, {}: {}; {}.",
                    cost.where, change_ratio_text(cost.ratio), judged(cost.ratio)));
  }
  if (!lines.empty()) return lines;
  if (!has_marks(summary)) return {"Instrumentation: no marks rode on these steps."};
  std::string line =
      "Instrumentation: marks between phases rode on every timed step, and no step without them is "
      "in this document: what they cost was not measured in this run";
  const std::string command = bench_command(summary);
  if (command.empty()) return {line + "."};
  return {line + ", do: " + command +
          " --ab=phases=off --benchmark_out=marks.json, and give marks.json to --figures."};
}

}  // namespace tandem::reports
