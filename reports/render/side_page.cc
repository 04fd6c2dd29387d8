// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "reports/answer/panels.h"
#include "reports/answer/report.h"
#include "reports/model/exposed_communication.h"
#include "reports/render/html.h"
#include "reports/render/html_parts.h"
#include "reports/render/page_data.h"
#include "reports/tables/break_even.h"
#include "reports/tables/bucket_curve.h"
#include "reports/tables/trust.h"
#include "reports/text/format.h"
#include "reports/text/section_words.h"

namespace tandem::reports {
namespace {

constexpr std::string_view kFiles = "report.md has";

template <class Predicate>
bool any_cell(const SideBySide& side, Predicate predicate) {
  return std::ranges::any_of(side.reports, [&](const Report& report) {
    return std::ranges::any_of(report.summary.cells, predicate);
  });
}

template <class Predicate>
bool any_summary(const SideBySide& side, Predicate predicate) {
  return std::ranges::any_of(side.reports,
                             [&](const Report& report) { return predicate(report.summary); });
}

std::string cells_section(const SideBySide& side) {
  return section_html(
      kSide, table_html(documents_table(side), "Documents", kFiles) +
                 table_html(side_table(side), "Cells side by side", kFiles) +
                 block_html({"side-notes", "Beside the figures"}, panel_html(side_notes(side))) +
                 block_html(kPartial, table_html(partial_table(side), kPartial.title, kFiles)));
}

std::string scaling(const SideBySide& side) {
  std::vector<const Report*> reports;
  for (const Report& report : side.reports) reports.push_back(&report);
  return scaling_chart(
      panels_of(reports),
      "<p class=\"hint\">The letter at the end of a line, and before its name, is the document's; "
      "each document has dashes of its own, each strategy its colour and mark.</p>\n" +
          std::string(
              any_cell(side, [](const CellSummary& cell) { return cell.speedup.has_value(); })
                  ? ""
                  : "<p class=\"hint\">No baseline: single was not measured.</p>\n"),
      "");
}

std::string maps(const SideBySide& side, const PageData& data) {
  std::string html;
  for (std::size_t i = 0; i < side.size(); ++i) {
    for (WinMap& map : win_maps(side.reports[i].summary)) {
      map.title = letter(i) + ": " + map.title;
      html += map_html(map);
    }
  }
  return section_html(kMap, html.empty() ? "" : html + forest_chart(data));
}

std::string details(const SideBySide& side, const PageData& data) {
  std::string html;
  if (any_cell(side, [](const CellSummary& cell) { return !cell.phases.empty(); })) {
    html += block_html(kPhaseTimes, phase_picture());
  }
  const bool has_memory = any_cell(side, [](const CellSummary& cell) {
    return std::ranges::any_of(cell.measured,
                               [](const auto* record) { return !record->memory.empty(); });
  });
  if (has_memory) html += memory_chart("");
  if (any_summary(side, [](const Summary& one) { return !bucket_curves(one).empty(); })) {
    html += bucket_chart("");
  }
  if (any_summary(side, [](const Summary& one) { return !communication_times(one).empty(); })) {
    html += wire_chart("");
  }
  return section_html(kDetails, html + sample_chart(data));
}

std::string trust(const SideBySide& side) {
  std::string html;
  for (std::size_t i = 0; i < side.size(); ++i) {
    const std::string id = "trust-" + letter(i);
    const std::string title = letter(i) + ": " + escape_html(side.names[i]);
    html += block_html({id, title},
                       panel_html(trust_lines(side.reports[i].document, side.reports[i].summary)));
  }
  html +=
      block_html({kMachine.id, "Machines", "As the launches saw them; what differs comes first."},
                 table_html(facts_table(side), "Machines", kFiles));
  return section_html(
      kTrust, html + block_html(kMethod, panel_html(method_lines(side.reports.front()))),
      "Advice, the gap cause by cause, all cells and failures of one document are on its own page: "
      "tandem report with that document alone.");
}

// A sentence per document about its changes, and the documents' own verdicts.
std::string side_header(const SideBySide& side) {
  const bool is_one_run = side.size() == 2 && !side.changes.front().sides.empty();
  std::string html =
      fmt::format("<header>\n<p class=\"eyebrow\">Tandem</p>\n<h1>{}</h1>\n",
                  is_one_run ? "A run against its reference, in turns"
                             : fmt::format("{} documents side by side", side.size()));
  for (const std::string& line : side_lines(side)) {
    html += "<p class=\"overall\">" + escape_html(line) + "</p>\n";
  }
  std::vector<std::string> documents;
  for (std::size_t i = 0; i < side.size(); ++i) {
    documents.push_back(fmt::format("{}, {}: {}. {}", letter(i), side.names[i],
                                    side.reports[i].verdict.subject,
                                    headline(side.reports[i].verdict)));
  }
  return html + list_html("verdict", documents) + "</header>\n";
}

}  // namespace

std::string to_html(const SideBySide& side) {
  std::vector<PageSource> sources;
  for (std::size_t i = 0; i < side.size(); ++i) {
    sources.push_back({.report = &side.reports[i], .letter = letter(i)});
  }
  const PageData data = page_data(sources);
  return page_html(
      "Side by side: " + join(side.names, ", "), side_header(side),
      cells_section(side) + scaling(side) + maps(side, data) + details(side, data) + trust(side),
      data);
}

}  // namespace tandem::reports
