// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/report.h"
#include "reports/table.h"
#include "reports/tables/side_by_side.h"

namespace tandem::reports {

// Private to the Markdown: its pieces. Each piece begins with an empty line and ends with a line
// end, so that pieces may follow each other; a piece without content is empty. Pieces escape text;
// a parameter named body consists of pieces.

[[nodiscard]] std::string paragraph_markdown(std::string_view text);
[[nodiscard]] std::string list_markdown(const std::vector<std::string>& lines);
[[nodiscard]] std::string code_markdown(const std::vector<std::string>& lines);

// The table, folded away below a line that tells the number of rows where a reader of a pull
// request would not want to pass so many.
[[nodiscard]] std::string table_markdown(const Table& table);

// The body folded away below one line.
[[nodiscard]] std::string folded_markdown(std::string_view summary, const std::string& body);

// A heading of that level above the body; empty where the body is empty.
[[nodiscard]] std::string headed_markdown(int level, std::string_view title,
                                          const std::string& body);

// The hint above the body; empty where the body is empty.
[[nodiscard]] std::string hinted_markdown(std::string_view hint, const std::string& body);

// The note below the body; empty where the body is empty.
[[nodiscard]] std::string noted_markdown(const std::string& body, std::string_view note);

// The report as Markdown: verdict, tables, machine and method.
[[nodiscard]] std::string to_markdown(const Report& report);

// Documents side by side as Markdown: the documents, the changes, and the cells that some documents
// lack.
[[nodiscard]] std::string to_markdown(const SideBySide& side);

// The same content for the terminal, shorter.
[[nodiscard]] std::string to_terminal(const SideBySide& side);

}  // namespace tandem::reports
