// SPDX-License-Identifier: Apache-2.0
#include "reports/render/terminal.h"

#include <fmt/format.h>

#include <string_view>

#include "reports/answer/advice.h"
#include "reports/tables/cell_table.h"
#include "reports/tables/collective_table.h"
#include "reports/tables/ddp_cost_table.h"
#include "reports/tables/dropped.h"
#include "reports/tables/twin_table.h"
#include "reports/tables/two_by_two.h"
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

// A heading, the table and the note below the table; empty where the table has no rows.
std::string block(std::string_view heading, TextTable table, std::string_view note = "") {
  if (table.rows.empty()) return "";
  const std::string below = note.empty() ? "" : fmt::format("{}\n", note);
  return fmt::format("\n{}\n\n{}{}", heading, table_text(std::move(table)), below);
}

std::string advice_text(const std::vector<Advice>& advice) {
  std::string text;
  for (const Advice& item : advice) text += fmt::format("  - {}\n", item.text);
  return text.empty() ? "" : fmt::format("\n{}\n\n{}", kAdviceTitle, text);
}

}  // namespace

std::string to_terminal(const Report& report) {
  const Summary& summary = report.summary;
  std::string text = to_text(report.verdict);
  for (const std::string& line : dropped_lines(report.document.sweep)) text += line + "\n";
  return text + advice_text(report.advice) + block(kCellsTitle, brief_cell_table(summary)) +
         block(kTwinTitle, twin_table(summary), twin_note(summary)) +
         block(kCornersTitle, two_by_two_table(summary), two_by_two_note(summary)) +
         block(kDdpCostTitle, brief_ddp_cost_table(summary), kDdpCostNote) +
         block(kCollectivesTitle, collective_table(summary), kCollectivesNote);
}

}  // namespace tandem::reports
