// SPDX-License-Identifier: Apache-2.0
#include "reports/render/side_markdown.h"

#include <fmt/format.h>

namespace tandem::reports {
namespace {

std::string list(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "- " + escape_markdown(line) + "\n";
  return text;
}

std::string section(const char* title, const Table& table) {
  return table.rows.empty() ? "" : fmt::format("\n## {}\n\n{}", title, to_markdown(table));
}

}  // namespace

std::string to_markdown(const SideBySide& side) {
  return fmt::format("# {} documents side by side\n\n", side.size()) + list(side_lines(side)) +
         section("Documents", documents_table(side)) +
         section("Cells that A and others measured", side_table(side)) + "\n" +
         list(side_notes(side)) +
         section("Cells that not all documents measured", partial_table(side)) +
         section("Machines", facts_table(side));
}

std::string to_terminal(const SideBySide& side) {
  std::string text;
  for (std::size_t i = 0; i < side.size(); ++i) {
    text += fmt::format("{}  {}: {}.\n", letter(i), side.names[i], side.reports[i].verdict.subject);
  }
  text += fmt::format("\n{}\n", to_text(side_table(side)));
  for (const std::string& line : side_notes(side)) text += fmt::format("  ! {}\n", line);
  for (const std::string& line : side_lines(side)) text += line + "\n";
  return text;
}

}  // namespace tandem::reports
