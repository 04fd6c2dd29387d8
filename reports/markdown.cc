// SPDX-License-Identifier: Apache-2.0
#include "reports/markdown.h"

#include <string_view>

#include "reports/cell_table.h"
#include "reports/collectives.h"
#include "reports/ddp_cost.h"
#include "reports/dropped.h"
#include "reports/link_table.h"
#include "reports/other_figures.h"
#include "reports/twin_table.h"
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

std::string table_and_note(const Table& table, std::string_view note) {
  const std::string text = table_or_nothing(table);
  return text.empty() ? "" : text + "\n" + escape_markdown(std::string(note)) + "\n";
}

std::string gradient_collectives(const Summary& summary) {
  const std::string table = table_and_note(collective_table(summary), kCollectivesNote);
  return table.empty() ? "" : table + "\n" + to_markdown(bucket_table(summary));
}

std::string links_section(const results::SweepInfo& sweep) {
  if (!sweep.links) return "";
  const std::string table = table_or_nothing(link_table(*sweep.links));
  return section(std::string(kLinksTitle), table + (table.empty() ? "" : "\n") +
                                               escape_markdown(link_note(*sweep.links)) + "\n");
}

}  // namespace

std::string to_markdown(const Report& report) {
  const VerdictText& verdict = report.verdict;
  std::vector<std::string> machine;
  for (const auto& [name, value] : machine_lines(report)) machine.push_back(name + ": " + value);
  return "# " + escape_markdown(verdict.subject) + "\n\n**" + escape_markdown(verdict.overall) +
         "**\n\n" + list(verdict.workloads) + section("Beside it", list(verdict.notes)) +
         section("Cells", table_or_nothing(cell_table(report.summary))) +
         section(std::string(kDroppedTitle),
                 table_or_nothing(dropped_table(report.document.sweep))) +
         section(std::string(kTwinTitle), table_and_note(twin_table(report.summary), kTwinNote)) +
         section("ddp against dp", table_or_nothing(comparison_table(report.summary))) +
         section(
             "Algorithm against launch: median step and ratios of launch medians [95 %]",
             table_and_note(two_by_two_table(report.summary), two_by_two_note(report.summary))) +
         section(std::string(kDdpCostTitle),
                 table_and_note(ddp_cost_table(report.summary), kDdpCostNote)) +
         section("Where the step goes: mean ms per phase (share of the mean step)",
                 table_or_nothing(phase_table(report.summary))) +
         section("Gradient collectives", gradient_collectives(report.summary)) +
         section(std::string(kOtherFiguresTitle),
                 table_or_nothing(other_figures_table(report.document))) +
         section("Machine", list(machine)) + links_section(report.document.sweep) +
         section("Method", list(method_lines(report)));
}

}  // namespace tandem::reports
