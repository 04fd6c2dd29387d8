// SPDX-License-Identifier: Apache-2.0
//
// Private to the page: pieces of HTML. Text that is given to them is escaped there; what is named
// body, or is the result of another piece, is markup already.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/break_even.h"
#include "reports/table.h"

namespace tandem::reports {

// Rows that a table of the page has at most: the files beside it have all.
inline constexpr std::size_t kMostRows = 300;

// Text as HTML: markup characters and quotes escaped; what is longer than a few thousand bytes is
// cut, and says so.
[[nodiscard]] std::string escape_html(const std::string& text);

// An unordered list; nothing without lines.
[[nodiscard]] std::string list_html(std::string_view kind, const std::vector<std::string>& lines);

// A heading of the second level and what belongs to it; nothing where the body is empty.
[[nodiscard]] std::string section_html(std::string_view id, std::string_view title,
                                       std::string_view hint, const std::string& body);

// A heading of the third level above its panel; nothing where the body is empty.
[[nodiscard]] std::string block_html(std::string_view id, std::string_view title,
                                     std::string_view hint, const std::string& body);

// At most kMostRows rows, then a line that says how many there are, and which files have all.
[[nodiscard]] std::string table_html(const Table& table, std::string_view caption,
                                     std::string_view files = "report.md and cells.csv have");

// A place for a chart, with the controls that choose what it shows.
[[nodiscard]] std::string chart_html(std::string_view id, std::string_view label);

// Links to those sections that are in the markup.
[[nodiscard]] std::string contents_html(const std::string& sections);

// A winner in each cell, by word and figure and by colour.
[[nodiscard]] std::string map_html(const WinMap& map);

}  // namespace tandem::reports
