// SPDX-License-Identifier: Apache-2.0
#include "reports/render/markdown_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::reports {
namespace {

constexpr std::size_t kMostOpenRows = 8;

}  // namespace

std::string paragraph_markdown(std::string_view text) {
  return text.empty() ? "" : fmt::format("\n{}\n", escape_markdown(std::string(text)));
}

std::string list_markdown(const std::vector<std::string>& lines) {
  std::string text = lines.empty() ? "" : "\n";
  for (const std::string& line : lines) text += fmt::format("- {}\n", escape_markdown(line));
  return text;
}

// Code is indented, since no line's content can end an indented block, as a line could end a fence.
std::string code_markdown(const std::vector<std::string>& lines) {
  std::string text = lines.empty() ? "" : "\n";
  for (std::string line : lines) {
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    text += fmt::format("    {}\n", line);
  }
  return text;
}

std::string table_markdown(const Table& table) {
  if (table.rows.empty()) return "";
  const std::string body = fmt::format("\n{}", to_markdown(table));
  if (table.rows.size() <= kMostOpenRows) return body;
  return folded_markdown(fmt::format("{} rows", table.rows.size()), body);
}

std::string folded_markdown(std::string_view summary, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n",
                     escape_markdown(std::string(summary)), body);
}

std::string headed_markdown(int level, std::string_view title, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("\n{:#>{}} {}\n{}", "", level, escape_markdown(std::string(title)), body);
}

std::string hinted_markdown(std::string_view hint, const std::string& body) {
  return body.empty() ? "" : paragraph_markdown(hint) + body;
}

std::string noted_markdown(const std::string& body, std::string_view note) {
  return body.empty() ? "" : body + paragraph_markdown(note);
}

}  // namespace tandem::reports
