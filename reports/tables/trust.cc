// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/text.h"
#include "reports/tables/tables.h"

namespace tandem::reports {
namespace {

constexpr double kRemainderBar = 0.02;  // remainder above which a cell is flagged

// How far the phases account for the steps: the remainder's share over cells with phases.
std::string books_line(const Summary& summary) {
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
  if (timed == 0) return "Phases were not timed: nothing tells where the steps go.";
  return fmt::format(
      "The books: of {} with phases, {} have more than {:.0f} % of the step in no phase; at most "
      "{:.1f} %.",
      count_text(timed, "cell"), flagged, 100 * kRemainderBar, 100 * most);
}

// Timed launches compare no numbers; some launches search for NaN and infinity.
std::string numbers_line(const Summary& summary) {
  const auto searched = std::ranges::count_if(summary.cells, [](const CellSummary& cell) {
    return cell.launches > 0 && cell.cell.options.contains("check-numerics");
  });
  std::string line = "Numbers: ";
  if (searched > 0) {
    line += fmt::format("every gradient of {} was searched for NaN and infinity, and none found; ",
                        count_text(searched, "cell"));
  }
  line += "whether strategies compute what one device does was not checked in this run";
  return line + ": tandem verify does it.";
}

std::string command_text(const std::vector<std::string>& words, const std::string& out) {
  std::string text = "tandem";
  for (const std::string& word : words) text += fmt::format(" {}", shell_word(word));
  return text + " --out " + out;
}

std::vector<std::string> measuring_commands(const results::SweepInfo& sweep) {
  const auto& commands = sweep.commands;
  if (commands.empty()) return {"# the command was not recorded"};
  if (commands.size() == 1) return {command_text(commands.front(), "again")};
  std::vector<std::string> lines;
  std::string merge = "tandem merge";
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::string out = fmt::format("again-{}", i + 1);
    lines.push_back(commands[i].empty() ? "# the command into " + out + " was not recorded"
                                        : command_text(commands[i], out));
    merge += fmt::format(" {}", out);
  }
  lines.push_back(merge + " --out again");
  return lines;
}

}  // namespace

std::vector<std::string> trust_lines(const Summary& summary) {
  return {books_line(summary), numbers_line(summary)};
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
  std::vector<std::string> lines = measuring_commands(sweep);
  if (!sweep.additions.empty()) {
    lines.emplace_back("# and what tandem explain added to this folder, by the command given then");
  }
  lines.emplace_back("tandem compare results.json again");
  return lines;
}

}  // namespace tandem::reports
