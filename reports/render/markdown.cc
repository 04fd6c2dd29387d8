// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>

#include "reports/render/formats.h"

namespace tandem::reports {
namespace {

constexpr std::size_t kMostOpenRows = 16;

std::string folded_markdown(std::string_view summary, const std::string& body) {
  return fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n",
                     escape_markdown(std::string(summary)), body);
}

// Each block begins with an empty line, and ends with a line end.
struct MarkdownBlocks {
  std::size_t level = 1;  // of the headings above
  std::string text{};

  void operator()(const Sentence& sentence) {
    const std::string words = escape_markdown(sentence.text);
    text += sentence.kind == "overall" ? fmt::format("\n**{}**\n", words)
                                       : fmt::format("\n{}\n", words);
  }

  void operator()(const List& list) {
    text += '\n';
    for (std::size_t i = 0; i < list.lines.size(); ++i) {
      std::string line = list.lines[i];
      if (!list.evidence.empty()) line += fmt::format(" (evidence: {})", list.evidence[i].title);
      text += fmt::format("- {}\n", escape_markdown(line));
    }
  }

  // Indented, since no line's content can end an indented block, as a line could end a fence.
  void operator()(const Code& code) {
    text += '\n';
    for (std::string line : code.lines) {
      std::ranges::replace_if(
          line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
      text += fmt::format("    {}\n", line);
    }
  }

  void operator()(const Table& block) {
    const TextTable& table = block.table;
    const std::string body = fmt::format("\n{}", to_markdown(table));
    text += table.rows.size() <= kMostOpenRows
                ? body
                : folded_markdown(fmt::format("{} rows", table.rows.size()), body);
  }

  void operator()(const Chart& /*chart*/) {}
  void operator()(const Bars& /*bars*/) {}

  void operator()(const Section& section) {
    const std::string content = body(section, section.is_folded ? level : level + 1);
    if (content.empty()) return;
    if (section.is_folded) {
      text += folded_markdown(section.title, content);
    } else {
      text += '\n' + heading(section, level + 1) + content;
    }
  }

  static std::string heading(const Section& section, std::size_t level) {
    constexpr std::size_t kDeepest = 4;
    const std::string title = escape_markdown(section.title);
    std::string text = level > kDeepest ? fmt::format("**{}**\n", title)
                                        : fmt::format("{:#>{}} {}\n", "", level, title);
    if (!section.hint.empty()) text += fmt::format("\n{}\n", escape_markdown(section.hint));
    if (!section.document.empty()) text += fmt::format("\nDefinitions: `{}`\n", section.document);
    return text;
  }

  static std::string body(const Section& section, std::size_t level) {
    MarkdownBlocks inside{.level = level};
    for (const ReportBlock& block : section.blocks) {
      if ((block.formats & kMarkdown) != 0) std::visit(inside, block.content);
    }
    return inside.text;
  }
};

}  // namespace

std::string to_markdown(const Section& root) {
  return MarkdownBlocks::heading(root, 1) + MarkdownBlocks::body(root, 1);
}

}  // namespace tandem::reports
