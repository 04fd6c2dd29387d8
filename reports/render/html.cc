// SPDX-License-Identifier: Apache-2.0
#include "reports/render/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/answer/advice.h"
#include "reports/answer/panels.h"
#include "reports/render/explanation_sections.h"
#include "reports/render/html_parts.h"
#include "reports/render/page_data.h"
#include "reports/tables/break_even.h"
#include "reports/tables/bucket_curve.h"
#include "reports/tables/cell_table.h"
#include "reports/tables/collective_table.h"
#include "reports/tables/ddp_cost_table.h"
#include "reports/tables/dropped.h"
#include "reports/tables/host_work_table.h"
#include "reports/tables/other_figures.h"
#include "reports/tables/published.h"
#include "reports/tables/trust.h"
#include "reports/tables/twin_table.h"
#include "reports/tables/two_by_two.h"
#include "reports/text/format.h"
#include "reports/text/section_words.h"
#include "reports/text/table.h"

namespace tandem::reports {

namespace {

std::string paragraph(const std::string& text) {
  return text.empty() ? "" : "<p class=\"hint\">" + escape_html(text) + "</p>\n";
}

bool has_phases(const Summary& summary) {
  return std::ranges::any_of(summary.cells,
                             [](const CellSummary& cell) { return !cell.phases.empty(); });
}

bool any_cell(const Summary& summary) {
  return std::ranges::any_of(summary.cells,
                             [](const CellSummary& cell) { return cell.launches > 0; });
}

// The section on algorithm against launch: the two choices at one point, and the ratios of either.
std::string corners(const Summary& summary) {
  const std::string table = table_html(two_by_two_table(summary), kCorners.title);
  if (table.empty()) return "";
  return block_html(kCorners, table + paragraph(two_by_two_note(summary)));
}

std::string explained(const Report& report) {
  std::string html;
  for (const Explanation& explanation : report.explanations) {
    std::string body;
    for (const Section& section : sections_of(explanation)) {
      if (section.table.rows.empty() && section.lines.empty()) continue;
      body += "<h4>" + escape_html(section.title) + "</h4>\n";
      for (const std::string& line : section.lines) body += paragraph(line);
      body += table_html(section.table, "From dp to ddp");
    }
    html += fmt::format("<details open><summary>{}, batch {}, {} devices</summary>\n{}</details>\n",
                        escape_html(explanation.question.model), explanation.question.batch,
                        explanation.question.devices, body);
  }
  return block_html(kLadderOfCauses, html);
}

// The chart with its figures as a table; empty where the table has no rows.
std::string with_table(std::string (*chart)(const std::string& below), const TextTable& table,
                       std::string_view caption) {
  return table.rows.empty() ? "" : chart(folded_html("As a table", table_html(table, caption)));
}

std::string costs_block(const Summary& summary) {
  return block_html(kCosts, table_html(ddp_cost_table(summary), "What ddp costs"));
}

std::string host_work_block(const Summary& summary) {
  return block_html(kHostWork, table_html(host_work_table(summary), kHostWork.title));
}

std::string twin_block(const Summary& summary) {
  const Heading& heading = twin_heading(summary);
  return block_html({heading.id, heading.title}, table_html(twin_table(summary), heading.title),
                    twin_note(summary));
}

// A model may have a hundred buckets, so the table of buckets is folded away.
std::string collectives_block(const Summary& summary) {
  const std::string table = table_html(collective_table(summary), kCollectives.title);
  if (table.empty()) return "";
  return wire_chart(table +
                    folded_html("Each bucket", table_html(bucket_table(summary), "Each bucket")));
}

std::string without_baseline(const Summary& summary) {
  const bool any_speedup = std::ranges::any_of(
      summary.cells, [](const CellSummary& cell) { return cell.speedup.has_value(); });
  if (any_speedup) return "";
  return paragraph("No baseline: single was not measured here, so that there is no speed-up.");
}

std::string machine_html(const Report& report) {
  std::string html = "<div class=\"panel\"><dl>\n";
  for (const auto& [name, value] : machine_lines(report)) {
    html += "<dt>" + escape_html(name) + "</dt><dd>" + escape_html(value) + "</dd>\n";
  }
  return html + "</dl></div>\n";
}

// The commands of the measurement, so that a reader can repeat the measurement.
std::string reproduce_html(const results::SweepInfo& sweep) {
  std::string html = "<pre>" + escape_html(join(reproduce_commands(sweep), "\n")) + "</pre>\n";
  if (sweep.definition.empty()) return html;
  return html +
         "<details><summary>All that decides what was measured (a sweep file is made from "
         "it)</summary>\n<pre>" +
         escape_html(sweep.definition) + "</pre></details>\n";
}

std::string links_html(const results::SweepInfo& sweep) {
  if (!sweep.links) return "";
  return block_html(kLinks, table_html(link_table(*sweep.links), kLinks.title) +
                                paragraph(link_note(*sweep.links)));
}

std::string advice_section(const Report& report) {
  std::string items;
  for (const Advice& item : report.advice) {
    items += fmt::format("<li>{} <a href=\"#{}\">evidence</a></li>\n", escape_html(item.text),
                         item.evidence.id);
  }
  return section_html(kAdvice, items.empty() ? "" : "<ul class=\"advice\">\n" + items + "</ul>\n");
}

// The figures of the panels, a table each.
std::string sources_html(const std::vector<Panel>& panels) {
  std::string html;
  const std::vector<TextTable> tables = panel_tables(panels);
  for (std::size_t at = 0; at < panels.size(); ++at) {
    const std::string title = escape_html(panels[at].title);
    const std::string table = table_html(tables[at], title);
    if (!table.empty()) html += "<h4>" + title + "</h4>\n" + table;
  }
  return folded_html("The panels as tables", html);
}

std::string scaling_section(const Report& report) {
  if (!any_cell(report.summary)) return "";
  const std::vector<Panel> panels = panels_of(report);
  return scaling_chart(
      panels, without_baseline(report.summary),
      sources_html(panels) +
          folded_html(kWeak.title, table_html(weak_table(report.summary), kWeak.title)));
}

std::string gap_section(const Report& report) {
  const Summary& summary = report.summary;
  return section_html(
      kGap, explained(report) +
                block_html(kPhaseTimes, table_html(phase_table(summary), "Mean time per phase")) +
                costs_block(summary) + corners(summary) + host_work_block(summary) +
                twin_block(summary));
}

std::string map_section(const Report& report, const PageData& data) {
  std::string maps;
  for (const WinMap& map : win_maps(report.summary)) maps += map_html(map);
  if (maps.empty()) {
    return section_html({kMap.id, kMap.title}, fmt::format("<p>{}</p>\n", kNoMap));
  }
  return section_html(
      kMap, maps + forest_chart(data) +
                folded_html("The comparisons as a table",
                            table_html(comparison_table(report.summary), kComparisons.title)));
}

std::string detail_section(const Report& report, const PageData& data) {
  const Summary& summary = report.summary;
  return section_html(
      kDetails, with_table(memory_chart, memory_table(summary), "Peak memory per device") +
                    block_html(kEnergy, table_html(energy_table(summary), kEnergy.title)) +
                    with_table(bucket_chart, bucket_curve_table(summary), kBucketSizes.title) +
                    collectives_block(summary) + sample_chart(data) +
                    block_html(kModes, table_html(mode_table(summary), kModes.title)));
}

std::string published_section(const Report& report) {
  return section_html(kNormal, table_html(published_table(report.summary), "Published figures"));
}

// The first screen: the sentence with its reason, the picture of it, and what to use.
std::string verdict_section(const Report& report) {
  const VerdictText& verdict = report.verdict;
  const results::SweepInfo& sweep = report.document.sweep;
  std::string html = fmt::format(
      "<header>\n<p class=\"eyebrow\">Tandem &middot; sweep {} &middot; {}</p>\n<h1>{}</h1>\n"
      "{}<p class=\"overall\">{}</p>\n",
      escape_html(sweep.name), escape_html(sweep.context.date), escape_html(verdict.subject),
      verdict.slower.empty() ? ""
                             : "<p class=\"overall\">" + escape_html(verdict.slower) + "</p>\n",
      escape_html(verdict.overall));
  if (has_phases(report.summary)) html += phase_picture();
  const std::string choices =
      table_html(verdict.choices, kChoices.title) + paragraph(std::string(kChoices.hint)) +
      folded_html(kInWords, list_html("verdict", first_sentences(verdict.workloads)));
  html += verdict.choices.rows.empty()
              ? list_html("verdict", first_sentences(verdict.workloads))
              : fmt::format("<h2 id=\"{}\">{}</h2>\n{}", kChoices.id, kChoices.title, choices);
  if (!verdict.tested.empty()) {
    html += "<p class=\"range\">" + escape_html(verdict.tested) + "</p>\n";
  }
  return html + list_html("breaks", verdict.breaks) + "</header>\n";
}

std::string trust_section(const Report& report) {
  const Summary& summary = report.summary;
  return section_html(
      kTrust,
      panel_html(trust_lines(report.document, report.summary)) +
          block_html(kWithout, table_html(failures_table(summary), kWithout.title)) +
          block_html(kCells, table_html(cell_table(summary), kCells.title)) +
          block_html(kDropped, table_html(dropped_table(report.document.sweep), kDropped.title)) +
          block_html(kOthers,
                     table_html(other_figures_table(report.document), "Other programs' figures")) +
          block_html(kMachine, machine_html(report)) + links_html(report.document.sweep) +
          block_html(kReproduce,
                     "<div class=\"panel\">" + reproduce_html(report.document.sweep) + "</div>\n") +
          block_html(kMethod, panel_html(method_lines(report))));
}

}  // namespace

std::string to_html(const Report& report) {
  const PageData data = page_data(report);
  const std::string sections =
      section_html(kWarnings, list_html("notes", report.verdict.notes)) + advice_section(report) +
      scaling_section(report) + gap_section(report) + map_section(report, data) +
      detail_section(report, data) + published_section(report) + trust_section(report);
  return page_html("dp against ddp: " + report.verdict.subject, verdict_section(report), sections,
                   data);
}

}  // namespace tandem::reports
