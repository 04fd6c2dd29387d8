// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>

#include "reports/render/formats.h"

namespace tandem::reports {
namespace {

constexpr std::size_t kMostTerminalRows = 40;

// Draws blocks as lines, a paragraph apart where a table stands between them.
struct TerminalBlocks {
  std::string text{};

  void operator()(const Sentence& sentence) { text += sentence.text + "\n"; }

  void operator()(const List& list) {
    const char mark = list.kind == "notes" ? '!' : '-';
    for (const std::string& line : list.lines) text += fmt::format("  {} {}\n", mark, line);
  }

  void operator()(const Code& code) {
    for (const std::string& line : code.lines) text += fmt::format("    {}\n", line);
  }

  void operator()(const Table& block) {
    TextTable table = narrow(block.table);
    const std::size_t rows = table.rows.size();
    table.rows.resize(std::min(rows, kMostTerminalRows));
    text += to_text(table);
    if (rows > kMostTerminalRows) {
      text += fmt::format("the first {} of {} rows; report.md has all\n", kMostTerminalRows, rows);
    }
  }

  void operator()(const Chart& /*chart*/) {}

  void operator()(const Section& section) {
    const std::string content = body(section);
    if (content.empty()) return;
    const bool has_own = std::ranges::any_of(section.blocks, [](const ReportBlock& block) {
      return (block.formats & kTerminal) != 0 && !std::holds_alternative<Section>(block.content) &&
             !std::holds_alternative<Chart>(block.content);
    });
    text += has_own ? fmt::format("\n{}\n\n{}", section.title, content) : content;
  }

  static std::string body(const Section& section) {
    TerminalBlocks inside;
    for (const ReportBlock& block : section.blocks) {
      if ((block.formats & kTerminal) != 0) std::visit(inside, block.content);
    }
    return inside.text;
  }
};

}  // namespace

std::string to_terminal(const Section& root) {
  return root.title + (root.title.ends_with('.') ? "\n" : ".\n") + TerminalBlocks::body(root);
}

}  // namespace tandem::reports
