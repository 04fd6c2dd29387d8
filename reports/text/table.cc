// SPDX-License-Identifier: Apache-2.0
#include "reports/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "common/base/lines.h"

namespace tandem::reports {
namespace {

std::vector<std::size_t> widths_of(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const TextTable::Column& column : table.columns) widths.push_back(width_of(column.title));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  }
  return widths;
}

std::string padded(const std::string& text, std::size_t width, bool is_right) {
  const std::string space(width - width_of(text), ' ');
  return is_right ? space + printable(text) : printable(text) + space;
}

// The text without what stands in brackets, where it has `mark`.
std::string without_interval(std::string text, std::string_view mark) {
  const std::size_t begin = text.find(" [");
  if (begin == std::string::npos || text.find(mark) == std::string::npos) return text;
  return text.erase(begin, text.find(']', begin) + 1 - begin);
}

std::string trimmed_line(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Without the space between columns.
std::size_t total_width(const TextTable& table) {
  const std::vector<std::size_t> widths = widths_of(table);
  return std::accumulate(widths.begin(), widths.end(), 2 * widths.size() - 2);
}

// Each figure without its interval.
TextTable brief(TextTable table) {
  for (TextTable::Column& column : table.columns) column.is_brief = true;
  return narrow(table);
}

// "model mlp-base; batch 64; dp 29.59 ms", without what a row lacks.
std::string row_sentence(const TextTable& table, const std::vector<std::string>& row) {
  std::string text;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i].empty() || row[i] == "-") continue;
    const std::string& title = table.columns[i].title;
    text += (text.empty() ? "" : "; ") + title + (title.empty() ? "" : " ") + row[i];
  }
  return text;
}

}  // namespace

void TextTable::add_columns(const std::vector<std::string>& titles) {
  for (const std::string& title : titles) {
    Column column;
    std::size_t marks = 0;
    for (; marks < title.size(); ++marks) {
      if (title[marks] == '>') {
        column.is_right = true;
      } else if (title[marks] == '-') {
        column.is_extra = true;
      } else if (title[marks] == '~') {
        column.is_brief = true;
      } else {
        break;
      }
    }
    column.title = title.substr(marks);
    columns.push_back(column);
  }
}

TextTable narrow(const TextTable& table) {
  TextTable found;
  found.rows.resize(table.rows.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    TextTable::Column column = table.columns[i];
    if (column.is_extra) continue;
    if (column.is_brief) column.title = without_interval(column.title, "[95 %]");
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const std::string& text = table.rows[row][i];
      found.rows[row].push_back(column.is_brief ? without_interval(text, " .. ") : text);
    }
    found.columns.push_back(column);
  }
  return found;
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

std::string to_text(const TextTable& table, std::size_t columns) {
  const TextTable small = narrow(table);
  for (const TextTable& shown : {table, small, brief(small)}) {
    if (total_width(shown) <= columns) return to_text(shown);
  }
  std::string text;
  for (const auto& row : small.rows) text += to_lines(row_sentence(small, row), columns, "  - ");
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
