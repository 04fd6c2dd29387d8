// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tandem::reports {

// Text in rows and columns, which several formats draw.
struct Table {
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

// The table as columns padded with spaces, with a rule under the titles. The width counts code
// points.
[[nodiscard]] std::string to_text(const Table& table);

// The table as GitHub's Markdown; pipes, backslashes, line ends and markup in cells are escaped.
[[nodiscard]] std::string to_markdown(const Table& table);

[[nodiscard]] std::string escape_markdown(const std::string& text);

}  // namespace tandem::reports
