// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/text.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

constexpr double kRemainderBar = 0.02;  // remainder above which a cell is flagged

std::string command_text(const std::vector<std::string>& words) {
  std::string text = "tandem";
  for (const std::string& word : words) text += fmt::format(" {}", shell_word(word));
  return text + " --out again";
}

}  // namespace

std::string remainder_line(const Summary& summary) {
  int timed = 0;
  int flagged = 0;
  double most = 0;
  for (const CellSummary& cell : summary.cells) {
    if (cell.phases.empty()) continue;
    ++timed;
    const double share = std::abs(cell.remainder_share());
    most = std::max(most, share);
    if (share > kRemainderBar) ++flagged;
  }
  if (timed == 0) return "Phases were not timed: nothing shows where the steps go.";
  return fmt::format(
      "The books: of {} with phases, {} have more than {:.0f} % of the step in no phase; at most "
      "{:.1f} %.",
      count_text(timed, "cell"), flagged, 100 * kRemainderBar, 100 * most);
}

std::vector<std::string> dropped_lines(const results::SweepInfo& sweep) {
  std::vector<std::string> lines;
  for (const results::DroppedCells& dropped : sweep.dropped) {
    lines.push_back(fmt::format("not measured: {}: {}",
                                count_text(std::ssize(dropped.cells), "cell"), dropped.reason));
  }
  return lines;
}

TextTable failures_table(const Summary& summary) {
  TextTable table({"cell", "outcome", "reason"});
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches > 0) continue;
    table.rows.push_back({cell.cell.name(), std::string(to_string(cell.status)), cell.reason});
  }
  return table;
}

std::vector<std::string> reproduce_commands(const results::SweepInfo& sweep) {
  std::vector<std::string> lines;
  for (const auto& command : sweep.commands) lines.push_back(command_text(command));
  if (lines.empty()) lines.emplace_back("# the command was not recorded");
  if (!sweep.additions.empty()) {
    lines.emplace_back("# and what tandem explain added to this folder, by the command given then");
  }
  lines.emplace_back("tandem compare results.json again");
  return lines;
}

namespace {

std::vector<std::string> row_of(const results::OtherEntry& entry) {
  if (const std::string error = entry.error(); !error.empty()) {
    return {entry.source, entry.name(), "", error};
  }
  std::string time;
  std::vector<std::string> figures;
  for (const auto& [name, value] : entry.figures()) {
    if (name == "real_time") {
      time = fmt::format("{:.4g} {}", value, entry.time_unit());
    } else {
      figures.push_back(fmt::format("{} {:.4g}", name, value));
    }
  }
  return {entry.source, entry.name(), time, join(figures, ", ")};
}

}  // namespace

TextTable other_figures_table(const results::Document& document) {
  TextTable table({"measured by", "entry", ">time", "figures"});
  for (const results::OtherEntry& entry : document.others) table.rows.push_back(row_of(entry));
  return table;
}

}  // namespace tandem::reports
