// SPDX-License-Identifier: Apache-2.0
#include "reports/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/format.h"

namespace tandem::reports {
namespace {

using results::Status;

// Launches that the plan asks for and that neither ran nor were ruled out by a skipped cell.
int launches_missing(const results::SweepInfo& sweep, const Summary& summary) {
  const int seen = static_cast<int>(summary.cells.size());
  int missing = std::max(0, sweep.planned_cells - seen) * sweep.launches_per_cell;
  for (const CellSummary& cell : summary.cells) {
    if (cell.status != Status::kOk) continue;
    missing += std::max(0, sweep.launches_per_cell - cell.launches - cell.failed_launches);
  }
  return missing;
}

// "3 cells failed: <reason>", a line per reason.
void add_reasons(std::vector<std::string>& lines, const Summary& summary, Status status) {
  std::map<std::string, std::vector<const CellSummary*>> by_reason;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 && cell.status == status) by_reason[cell.reason].push_back(&cell);
  }
  for (const auto& [reason, cells] : by_reason) {
    const std::string who =
        cells.size() == 1 ? cells.front()->cell.name() : count_text(std::ssize(cells), "cell");
    lines.push_back(fmt::format("{} {}: {}", who, to_string(status), reason));
  }
}

// Other work on the machine is the commonest cause of wide intervals.
void add_load(std::vector<std::string>& lines, const results::Context& context) {
  if (context.load_avg.empty() || context.num_cpus == 0) return;
  const double load = context.load_avg.front();
  if (load <= 0.5 * context.num_cpus) return;
  lines.push_back(fmt::format(
      "busy: the load average at the start was {:.1f} on {}; unless that was work that had just "
      "ended, such as a build, it took time from what was measured",
      load, count_text(context.num_cpus, "CPU")));
}

template <class Predicate>
bool any_measured(const Summary& summary, Predicate predicate) {
  return std::any_of(summary.cells.begin(), summary.cells.end(),
                     [&](const CellSummary& cell) { return cell.launches > 0 && predicate(cell); });
}

}  // namespace

std::vector<std::string> notes(const results::Document& document, const Summary& summary) {
  std::vector<std::string> lines;
  const int missing = launches_missing(document.sweep, summary);
  if (missing > 0) {
    lines.push_back(
        fmt::format("unfinished: {} of {} planned launches are missing; run the sweep "
                    "again with the same --out to go on",
                    missing, document.sweep.planned_cells * document.sweep.launches_per_cell));
  }
  add_load(lines, document.sweep.context);
  add_reasons(lines, summary, Status::kFailed);
  add_reasons(lines, summary, Status::kSkipped);
  if (any_measured(summary, [](const CellSummary& cell) { return cell.oversubscribed; })) {
    lines.emplace_back(
        "oversubscribed: more devices than cores; devices took turns, so these figures say "
        "nothing about machines with a core per device");
  }
  if (any_measured(summary, [](const CellSummary& cell) { return cell.modelled; })) {
    lines.emplace_back("modelled: figures with this mark hold times that were not measured");
  }
  if (any_measured(summary, [](const CellSummary& cell) { return cell.efficiency_above_one(); })) {
    lines.emplace_back(
        "efficiency above 100 % (against single): more devices also bring more cache, or the "
        "baseline is slow; look there before believing it");
  }
  return lines;
}

}  // namespace tandem::reports
