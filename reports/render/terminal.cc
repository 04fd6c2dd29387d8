// SPDX-License-Identifier: Apache-2.0
#include "reports/render/terminal.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "reports/answer/advice.h"
#include "reports/answer/panels.h"
#include "reports/model/power.h"
#include "reports/tables/cell_table.h"
#include "reports/tables/collective_table.h"
#include "reports/tables/ddp_cost_table.h"
#include "reports/tables/dropped.h"
#include "reports/tables/twin_table.h"
#include "reports/tables/two_by_two.h"
#include "reports/text/definitions.h"
#include "reports/text/section_words.h"
#include "reports/text/table.h"

namespace tandem::reports {
namespace {

constexpr std::size_t kMostRows = 40;

std::string table_text(TextTable table) {
  const std::size_t rows = table.rows.size();
  if (rows <= kMostRows) return to_text(table);
  table.rows.resize(kMostRows);
  return to_text(table) +
         fmt::format("the first {} of {} rows; report.md has all\n", kMostRows, rows);
}

// A heading, the table and the notes below the table; empty where the table has no rows.
std::string block(const Heading& heading, TextTable table,
                  const std::vector<std::string>& notes = {}) {
  if (table.rows.empty()) return "";
  std::string text = fmt::format("\n{}\n\n{}", heading.title, table_text(std::move(table)));
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

// The same with what its figures mean, and the heading's hint.
std::string defined_block(const Heading& heading, TextTable table) {
  std::vector<std::string> notes = definition_lines(heading.id);
  notes.insert(notes.begin(), std::string(heading.hint));
  return block(heading, std::move(table), notes);
}

// The panels of the page, a table each.
std::string sources_text(const std::vector<Panel>& panels) {
  std::string text;
  std::vector<TextTable> tables = panel_tables(panels);
  for (std::size_t at = 0; at < panels.size(); ++at) {
    std::vector<std::string> notes{panels[at].note};
    std::erase(notes, "");
    text += block({kSources.id, panels[at].title}, std::move(tables[at]), notes);
  }
  return text;
}

std::string advice_text(const std::vector<Advice>& advice) {
  std::string text;
  for (const Advice& item : advice) text += fmt::format("  - {}\n", item.text);
  return text.empty() ? "" : fmt::format("\n{}\n\n{}", kAdvice.title, text);
}

}  // namespace

std::string to_terminal(const Report& report) {
  const Summary& summary = report.summary;
  std::string text = to_text(report.verdict);
  for (const std::string& line : dropped_lines(report.document.sweep)) text += line + "\n";
  const std::string power = power_text(tellings(report.document, summary));
  if (!power.empty()) text += power + "\n";
  return text + advice_text(report.advice) + block(kCells, brief_cell_table(summary)) +
         sources_text(panels_of(report)) +
         block(twin_heading(summary), twin_table(summary), {twin_note(summary)}) +
         block(kCorners, two_by_two_table(summary), {two_by_two_note(summary)}) +
         defined_block(kCosts, brief_ddp_cost_table(summary)) +
         defined_block(kCollectives, collective_table(summary));
}

}  // namespace tandem::reports
