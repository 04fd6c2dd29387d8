// SPDX-License-Identifier: Apache-2.0
#include "reports/markdown.h"

#include "reports/cell_table.h"
#include "reports/two_by_two.h"

namespace tandem::reports {
namespace {

std::string list(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "- " + escape_markdown(line) + "\n";
  return text;
}

std::string section(const std::string& title, const std::string& body) {
  return body.empty() ? "" : "\n## " + title + "\n\n" + body;
}

std::string table_or_nothing(const Table& table) {
  return table.rows.empty() ? "" : to_markdown(table);
}

std::string two_by_two(const Summary& summary) {
  const std::string table = table_or_nothing(two_by_two_table(summary));
  return table.empty() ? "" : table + "\n" + escape_markdown(std::string(kTwoByTwoNote)) + "\n";
}

}  // namespace

std::string to_markdown(const Report& report) {
  const VerdictText& verdict = report.verdict;
  std::vector<std::string> machine;
  for (const auto& [name, value] : machine_lines(report)) machine.push_back(name + ": " + value);
  return "# " + escape_markdown(verdict.subject) + "\n\n**" + escape_markdown(verdict.overall) +
         "**\n\n" + list(verdict.workloads) + section("Beside it", list(verdict.notes)) +
         section("Cells", table_or_nothing(cell_table(report.summary))) +
         section("ddp against dp", table_or_nothing(comparison_table(report.summary))) +
         section("Algorithm against launch: median step and ratios of launch medians [95 %]",
                 two_by_two(report.summary)) +
         section("Where the step goes: mean ms per phase (share of the mean step)",
                 table_or_nothing(phase_table(report.summary))) +
         section("Machine", list(machine)) + section("Method", list(method_lines(report)));
}

}  // namespace tandem::reports
