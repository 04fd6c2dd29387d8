// SPDX-License-Identifier: Apache-2.0
//
// Private to the Markdown: its pieces. Each begins with an empty line and ends with a line's end,
// so that pieces may follow each other; a piece with nothing in it is empty. Text is escaped here;
// what is named body is made of pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/table.h"

namespace tandem::reports {

[[nodiscard]] std::string paragraph_markdown(std::string_view text);
[[nodiscard]] std::string list_markdown(const std::vector<std::string>& lines);
[[nodiscard]] std::string code_markdown(const std::vector<std::string>& lines);

// A table, folded away below a line that tells its rows where they are more than a reader of a pull
// request wants to pass.
[[nodiscard]] std::string table_markdown(const Table& table);

// Folded away below one line.
[[nodiscard]] std::string folded_markdown(std::string_view summary, const std::string& body);

// A heading of that level above the body; nothing where that is empty.
[[nodiscard]] std::string headed_markdown(int level, std::string_view title,
                                          const std::string& body);

// What explains the body stands above it; nothing where that is empty.
[[nodiscard]] std::string hinted_markdown(std::string_view hint, const std::string& body);

// The same with what stands below it.
[[nodiscard]] std::string noted_markdown(const std::string& body, std::string_view note);

}  // namespace tandem::reports
