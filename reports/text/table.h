// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::reports {

// Text in rows and columns, which several formats draw.
struct TextTable {
  struct Column {
    std::string title;
    bool is_right = false;  // its texts stand at the right, as figures do
    bool is_extra = false;  // left out where there is little width
    bool is_brief = false;  // without intervals where there is little width
  };

  TextTable() = default;
  explicit TextTable(const std::vector<std::string>& titles) { add_columns(titles); }

  // A title that begins with ">" is that of a column at the right, with "-" of an extra one, with
  // "~" of a brief one; the title is what follows.
  void add_columns(const std::vector<std::string>& titles);

  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

// The table for little width: without extra columns, and figures of brief ones without intervals.
[[nodiscard]] TextTable narrow(const TextTable& table);

// The table as columns padded with spaces, with a rule under the titles. The width counts code
// points.
[[nodiscard]] std::string to_text(const TextTable& table);

// The table in lines of so many columns: as it is, narrow, without any interval, or, where none of
// these fits, a sentence for each row.
[[nodiscard]] std::string to_text(const TextTable& table, std::size_t columns);

// The table as GitHub's Markdown; pipes, backslashes, line ends and markup in cells are escaped.
[[nodiscard]] std::string to_markdown(const TextTable& table);

[[nodiscard]] std::string escape_markdown(const std::string& text);

}  // namespace tandem::reports
