// SPDX-License-Identifier: Apache-2.0
#include "reports/render/page_sections.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/model/advice.h"
#include "reports/model/section_words.h"
#include "reports/render/charts.h"
#include "reports/render/explanation_sections.h"
#include "reports/render/html_parts.h"
#include "reports/tables/break_even.h"
#include "reports/tables/bucket_curve.h"
#include "reports/tables/cell_table.h"
#include "reports/tables/collectives.h"
#include "reports/tables/ddp_cost.h"
#include "reports/tables/device_memory.h"
#include "reports/tables/host_cost.h"
#include "reports/tables/published.h"
#include "reports/tables/twin_table.h"
#include "reports/tables/two_by_two.h"
#include "reports/tables/weak_scaling.h"

namespace tandem::reports {
namespace {

std::string paragraph(const std::string& text) {
  return text.empty() ? "" : "<p class=\"hint\">" + escape_html(text) + "</p>\n";
}

bool any_cell(const Summary& summary) {
  return std::any_of(summary.cells.begin(), summary.cells.end(),
                     [](const CellSummary& cell) { return cell.launches > 0; });
}

// The section on algorithm against launch: the two choices at one point, and the ratios of either.
std::string corners(const Summary& summary) {
  const std::string table = table_html(two_by_two_table(summary), kCornersTitle);
  if (table.empty()) return "";
  return block_html("corners", kCornersTitle, kCornersHint,
                    table + paragraph(two_by_two_note(summary)));
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
  return block_html("ladder", kLadderTitle, kLadderHint, html);
}

std::string phases_block(const Summary& summary) {
  const std::string table = table_html(phase_table(summary), "Mean time per phase");
  if (table.empty()) return "";
  return phase_chart("<details><summary>As a table</summary>\n" + table + "</details>\n");
}

std::string costs_block(const Summary& summary) {
  return block_html("costs", kDdpCostTitle, kDdpCostNote,
                    table_html(ddp_cost_table(summary), "What ddp costs"));
}

std::string twin_block(const Summary& summary) {
  return block_html("twin", kTwinTitle, twin_note(summary),
                    table_html(twin_table(summary), kTwinTitle));
}

// A model may have a hundred buckets, so the table of buckets is folded away.
std::string collectives_block(const Summary& summary) {
  const std::string table = table_html(collective_table(summary), kCollectivesTitle);
  if (table.empty()) return "";
  return wire_chart(table + "<details><summary>Each bucket</summary>\n" +
                    table_html(bucket_table(summary), "Each bucket") + "</details>\n");
}

std::string memory_block(const Summary& summary) {
  const std::string table = table_html(memory_table(summary), "Peak memory per device");
  if (table.empty()) return "";
  return memory_chart("<details><summary>As a table</summary>\n" + table + "</details>\n");
}

std::string buckets_block(const Summary& summary) {
  const std::string table = table_html(bucket_curve_table(summary), kBucketsTitle);
  if (table.empty()) return "";
  return bucket_chart("<details><summary>As a table</summary>\n" + table + "</details>\n");
}

std::string weak_block(const Summary& summary) {
  const std::string table = table_html(weak_table(summary), kWeakTitle);
  if (table.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", kWeakTitle, table);
}

std::string without_baseline(const Summary& summary) {
  const bool any_speedup =
      std::any_of(summary.cells.begin(), summary.cells.end(),
                  [](const CellSummary& cell) { return cell.speedup.has_value(); });
  if (any_speedup) return "";
  return paragraph("No baseline: single was not measured here, so that there is no speed-up.");
}

}  // namespace

std::string advice_section(const Report& report) {
  std::string items;
  for (const Advice& item : report.advice) {
    items += fmt::format("<li>{} <a href=\"#{}\">evidence</a></li>\n", escape_html(item.text),
                         item.evidence);
  }
  return section_html("advice", kAdviceTitle, "",
                      items.empty() ? "" : "<ul class=\"advice\">\n" + items + "</ul>\n");
}

std::string scaling_section(const Report& report) {
  if (!any_cell(report.summary)) return "";
  return scaling_chart(without_baseline(report.summary), weak_block(report.summary));
}

std::string gap_section(const Report& report) {
  const Summary& summary = report.summary;
  return section_html("gap", kGapTitle, "",
                      explained(report) + phases_block(summary) + costs_block(summary) +
                          corners(summary) + twin_block(summary));
}

std::string map_section(const Report& report, const PageData& data) {
  std::string maps;
  for (const WinMap& map : win_maps(report.summary)) maps += map_html(map);
  if (maps.empty()) {
    return section_html("map", kMapTitle, "", fmt::format("<p>{}</p>\n", kNoMap));
  }
  return section_html(
      "map", kMapTitle, kMapHint,
      maps + forest_chart(data) + "<details><summary>The comparisons as a table</summary>\n" +
          table_html(comparison_table(report.summary), kComparisonsTitle) + "</details>\n");
}

std::string detail_section(const Report& report, const PageData& data) {
  const Summary& summary = report.summary;
  return section_html("details", kDetailsTitle, "",
                      memory_block(summary) + buckets_block(summary) + collectives_block(summary) +
                          sample_chart(data) +
                          block_html("modes", kModesTitle, kModesHint,
                                     table_html(mode_table(summary), kModesTitle)));
}

std::string published_section(const Report& report) {
  return section_html("normal", kNormalTitle, kNormalHint,
                      table_html(published_table(report), "Published figures"));
}

}  // namespace tandem::reports
