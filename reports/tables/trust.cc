// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/text.h"
#include "reports/model/phase_marks_cost.h"
#include "reports/model/power.h"

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

std::string steadiness_line(const Summary& summary) {
  int measured = 0;
  int drifting = 0;
  int in_modes = 0;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0) continue;
    ++measured;
    drifting += cell.unsteadiness.drift.has_value() ? 1 : 0;
    in_modes += cell.unsteadiness.modes || cell.unsteadiness.steps_in_modes() ? 1 : 0;
  }
  return fmt::format(
      "Steadiness: of {}, {} drift over their launches and {} gather around two times.",
      count_text(measured, "measured cell"), drifting, in_modes);
}

std::string counts_line(const Summary& summary) {
  const auto count = [&](results::Status status) {
    return std::ranges::count(summary.cells, status, &CellSummary::status);
  };
  return fmt::format(
      "Cells: {} in all, {} failed, {} skipped; the reasons stand in the table below.",
      summary.cells.size(), count(results::Status::kFailed), count(results::Status::kSkipped));
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
  const std::string options = example_options(summary);
  return options.empty() ? line + "." : line + ", do: tandem verify " + options + ".";
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

std::vector<std::string> trust_lines(const results::Document& document, const Summary& summary) {
  std::vector<std::string> lines{counts_line(summary), books_line(summary),
                                 steadiness_line(summary), numbers_line(summary)};
  const std::string power = power_text(tellings(document, summary));
  if (!power.empty()) lines.push_back(power);
  for (std::string& line : phase_marks_cost_lines(document, summary)) {
    lines.push_back(std::move(line));
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
