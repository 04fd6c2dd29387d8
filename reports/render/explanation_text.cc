// SPDX-License-Identifier: Apache-2.0
#include "reports/render/explanation_text.h"

#include <fmt/format.h>

#include "reports/render/explanation_sections.h"
#include "reports/table.h"

namespace tandem::reports {

std::string to_text(const Explanation& explanation) {
  std::string text;
  for (const Section& section : sections_of(explanation)) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", section.title);
    if (!section.table.rows.empty()) text += fmt::format("\n{}\n", to_text(section.table));
    for (const std::string& line : section.lines) text += fmt::format("  {}\n", line);
  }
  return text;
}

std::string to_markdown(const Explanation& explanation) {
  std::string text;
  for (const Section& section : sections_of(explanation)) {
    text += fmt::format("{} {}\n\n", text.empty() ? "#" : "\n##", escape_markdown(section.title));
    if (!section.table.rows.empty()) text += fmt::format("{}\n", to_markdown(section.table));
    for (const std::string& line : section.lines)
      text += fmt::format("- {}\n", escape_markdown(line));
  }
  return text;
}

}  // namespace tandem::reports
