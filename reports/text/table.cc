// SPDX-License-Identifier: Apache-2.0
#include "reports/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tandem::reports {
namespace {

std::size_t width_of(std::string_view text) {
  // Only bytes that do not continue a UTF-8 sequence count.
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::vector<std::size_t> widths_of(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const TextTable::Column& column : table.columns) widths.push_back(width_of(column.title));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  }
  return widths;
}

// A line end would break the table, and an escape sequence could do worse to a terminal.
std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

std::string padded(const std::string& text, std::size_t width, bool is_right) {
  const std::string space(width - width_of(text), ' ');
  return is_right ? space + printable(text) : printable(text) + space;
}

std::string trimmed_line(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

void TextTable::add_columns(const std::vector<std::string>& titles) {
  for (const std::string& title : titles) {
    const bool is_right = title.starts_with('>');
    columns.push_back({.title = title.substr(is_right ? 1 : 0), .is_right = is_right});
  }
}

std::string to_text(const TextTable& table) {
  const std::vector<std::size_t> widths = widths_of(table);
  std::string titles;
  std::string rule;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    titles += padded(table.columns[i].title, widths[i], table.columns[i].is_right) + "  ";
    rule += std::string(widths[i], '-') + "  ";
  }
  std::string text = trimmed_line(titles) + trimmed_line(rule);
  for (const auto& row : table.rows) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      line += padded(row[i], widths[i], table.columns[i].is_right) + "  ";
    }
    text += trimmed_line(line);
  }
  return text;
}

std::string escape_markdown(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      escaped += ' ';
      continue;
    }
    if (std::string_view("\\|`*_<>[]").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string to_markdown(const TextTable& table) {
  std::string titles;
  std::string rule;
  for (const TextTable::Column& column : table.columns) {
    titles += fmt::format(" {} |", escape_markdown(column.title));
    rule += column.is_right ? " ---: |" : " --- |";
  }
  std::string text = fmt::format("|{}\n|{}\n", titles, rule);
  for (const auto& row : table.rows) {
    text += "|";
    for (const std::string& cell : row) text += fmt::format(" {} |", escape_markdown(cell));
    text += "\n";
  }
  return text;
}

}  // namespace tandem::reports
