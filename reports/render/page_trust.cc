// SPDX-License-Identifier: Apache-2.0
//
// The first and the last section of the page: the verdict, and the reasons to believe the report.
#include <fmt/format.h>

#include "reports/format.h"
#include "reports/model/section_words.h"
#include "reports/render/html_parts.h"
#include "reports/render/page_sections.h"
#include "reports/tables/cell_table.h"
#include "reports/tables/dropped.h"
#include "reports/tables/link_table.h"
#include "reports/tables/other_figures.h"
#include "reports/tables/trust.h"

namespace tandem::reports {
namespace {

std::string machine_html(const Report& report) {
  std::string html = "<div class=\"panel\"><dl>\n";
  for (const auto& [name, value] : machine_lines(report)) {
    html += "<dt>" + escape_html(name) + "</dt><dd>" + escape_html(value) + "</dd>\n";
  }
  return html + "</dl></div>\n";
}

// The commands of the measurement, so that a reader can repeat the measurement.
std::string reproduce_html(const results::SweepInfo& sweep) {
  std::string html = fmt::format("<p class=\"hint\">{}</p>\n<pre>{}</pre>\n", kReproduceHint,
                                 escape_html(join(reproduce_commands(sweep), "\n")));
  if (sweep.definition.empty()) return html;
  return html +
         "<details><summary>All that decides what was measured (a sweep file is made from "
         "it)</summary>\n<pre>" +
         escape_html(sweep.definition) + "</pre></details>\n";
}

std::string links_html(const results::SweepInfo& sweep) {
  if (!sweep.links) return "";
  return block_html("links", kLinksTitle, "",
                    table_html(link_table(*sweep.links), kLinksTitle) + "<p class=\"hint\">" +
                        escape_html(link_note(*sweep.links)) + "</p>\n");
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
  if (!verdict.tested.empty()) {
    html += "<p class=\"range\">" + escape_html(verdict.tested) + "</p>\n";
  }
  html += list_html("breaks", verdict.breaks);
  html += list_html("verdict", first_sentences(verdict.workloads));
  return html + list_html("notes", verdict.notes) + "</header>\n";
}

std::string trust_section(const Report& report) {
  const Summary& summary = report.summary;
  return section_html(
      "trust", kTrustTitle, "",
      "<div class=\"panel\">" + list_html("method", trust_lines(report)) + "</div>\n" +
          block_html("without", kWithoutTitle, "",
                     table_html(failures_table(summary), kWithoutTitle)) +
          block_html("cells", kCellsTitle, kCellsHint,
                     table_html(cell_table(summary), kCellsTitle)) +
          block_html("dropped", kDroppedTitle,
                     "Cells that the sweep names and that were left out, and why.",
                     table_html(dropped_table(report.document.sweep), kDroppedTitle)) +
          block_html("others", kOtherFiguresTitle,
                     "Entries of other programs, each from a run of its own.",
                     table_html(other_figures_table(report.document), "Other programs' figures")) +
          block_html("machine", kMachineTitle, "As the launches saw it.", machine_html(report)) +
          links_html(report.document.sweep) +
          block_html("reproduce", kReproduceTitle, "",
                     "<div class=\"panel\">" + reproduce_html(report.document.sweep) + "</div>\n") +
          block_html(
              "method", kMethodTitle, "",
              "<div class=\"panel\">" + list_html("method", method_lines(report)) + "</div>\n"));
}

}  // namespace tandem::reports
