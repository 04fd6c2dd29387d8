// SPDX-License-Identifier: Apache-2.0
//
// The first and the last section of the page: the answer, and why to believe it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/break_even.h"
#include "reports/cell_table.h"
#include "reports/dropped.h"
#include "reports/format.h"
#include "reports/html_parts.h"
#include "reports/link_table.h"
#include "reports/other_figures.h"
#include "reports/page_sections.h"

namespace tandem::reports {
namespace {

constexpr std::size_t kMostWorkloads = 12;  // sentences of the verdict
constexpr double kBooksBar = 0.02;          // remainder above which a cell is flagged

std::string machine_html(const Report& report) {
  std::string html = "<div class=\"panel\"><dl>\n";
  for (const auto& [name, value] : machine_lines(report)) {
    html += "<dt>" + escape_html(name) + "</dt><dd>" + escape_html(value) + "</dd>\n";
  }
  return html + "</dl></div>\n";
}

// How far the books close: the remainder's share over cells with phases.
std::string books_line(const Summary& summary) {
  int timed = 0;
  int flagged = 0;
  double most = 0;
  for (const CellSummary& cell : summary.cells) {
    if (cell.phases.empty()) continue;
    ++timed;
    const double share = std::abs(cell.remainder_share());
    most = std::max(most, share);
    if (share > kBooksBar) ++flagged;
  }
  if (timed == 0) return "Phases were not timed: nothing tells where the steps go.";
  return fmt::format(
      "The books: of {} with phases, {} have more than {:.0f} % of the step in no "
      "phase; at most {:.1f} %.",
      count_text(timed, "cell"), flagged, 100 * kBooksBar, 100 * most);
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
      "Steadiness: of {}, {} drift over their launches and {} gather around two "
      "times.",
      count_text(measured, "measured cell"), drifting, in_modes);
}

std::string counts_line(const Summary& summary) {
  int failed = 0;
  int skipped = 0;
  for (const CellSummary& cell : summary.cells) {
    failed += cell.status == results::Status::kFailed ? 1 : 0;
    skipped += cell.status == results::Status::kSkipped ? 1 : 0;
  }
  return fmt::format(
      "Cells: {} in all, {} failed, {} skipped; the reasons stand in the table "
      "below.",
      summary.cells.size(), failed, skipped);
}

// What was run, so that it can be again.
std::string reproduce_html(const results::SweepInfo& sweep) {
  std::string html =
      "<p class=\"hint\">To reproduce, on a machine like this one:</p>\n<pre>tandem run " +
      escape_html(sweep.name) + " --out again\ntandem compare results.json again</pre>\n";
  if (sweep.definition.empty()) return html;
  return html +
         "<details><summary>All that decides what was measured (a sweep file is made from "
         "it)</summary>\n<pre>" +
         escape_html(sweep.definition) + "</pre></details>\n";
}

std::string failures_html(const Summary& summary) {
  Table table;
  table.columns = {{"cell", Table::Align::kLeft},
                   {"outcome", Table::Align::kLeft},
                   {"reason", Table::Align::kLeft}};
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches > 0) continue;
    table.rows.push_back({cell.cell.name(), std::string(to_string(cell.status)), cell.reason});
  }
  return block_html("without", "Cells without a figure", "",
                    table_html(table, "Cells without a figure"));
}

std::string links_html(const results::SweepInfo& sweep) {
  if (!sweep.links) return "";
  return block_html("links", kLinksTitle, "",
                    table_html(link_table(*sweep.links), kLinksTitle) + "<p class=\"hint\">" +
                        escape_html(link_note(*sweep.links)) + "</p>\n");
}

std::vector<std::string> first_of(const std::vector<std::string>& lines) {
  if (lines.size() <= kMostWorkloads) return lines;
  std::vector<std::string> some(lines.begin(), lines.begin() + kMostWorkloads);
  some.push_back(fmt::format("{} further workloads stand in the break-even map.",
                             lines.size() - kMostWorkloads));
  return some;
}

}  // namespace

std::string verdict_section(const Report& report) {
  const VerdictText& verdict = report.verdict;
  const results::SweepInfo& sweep = report.document.sweep;
  std::string html = fmt::format(
      "<header>\n<p class=\"eyebrow\">Tandem &middot; sweep {} &middot; {}</p>\n<h1>{}</h1>\n"
      "<p class=\"overall\">{}</p>\n",
      escape_html(sweep.name), escape_html(sweep.context.date), escape_html(verdict.subject),
      escape_html(verdict.overall));
  const std::string range = tested_range(report.summary);
  if (!range.empty()) html += "<p class=\"range\">Tested: " + escape_html(range) + ".</p>\n";
  std::vector<std::string> breaks = first_of(break_even_lines(report.summary));
  if (!any_resolved(report.summary)) breaks.push_back(deciding_sweep(report.summary));
  html += list_html("breaks", breaks);
  html += list_html("verdict", first_of(verdict.workloads));
  return html + list_html("notes", verdict.notes) + "</header>\n";
}

std::string trust_section(const Report& report) {
  const Summary& summary = report.summary;
  std::vector<std::string> lines{counts_line(summary), books_line(summary),
                                 steadiness_line(summary)};
  return section_html(
      "trust", "Trust", "",
      "<div class=\"panel\">" + list_html("method", lines) + "</div>\n" + failures_html(summary) +
          block_html("cells", "All cells",
                     "A dash is a figure that does not exist; the remarks say why.",
                     table_html(cell_table(summary), "All cells")) +
          block_html("dropped", kDroppedTitle,
                     "Cells that the sweep names and that were left out, and why.",
                     table_html(dropped_table(report.document.sweep), kDroppedTitle)) +
          block_html("others", kOtherFiguresTitle,
                     "Entries of other programs, each from a run of its own.",
                     table_html(other_figures_table(report.document), "Other programs' figures")) +
          block_html("machine", "Machine", "As the launches saw it.", machine_html(report)) +
          links_html(report.document.sweep) +
          block_html("reproduce", "Again", "",
                     "<div class=\"panel\">" + reproduce_html(report.document.sweep) + "</div>\n") +
          block_html(
              "method", "Method", "",
              "<div class=\"panel\">" + list_html("method", method_lines(report)) + "</div>\n"));
}

}  // namespace tandem::reports
