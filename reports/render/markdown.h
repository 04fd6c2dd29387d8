// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/answer/report.h"
#include "reports/answer/side_by_side.h"
#include "reports/text/table.h"

namespace tandem::reports {

// The table, folded away below a line that tells the number of rows where a reader of a pull
// request would not want to pass so many.
[[nodiscard]] std::string table_markdown(const TextTable& table);

// The report as Markdown: verdict, tables, machine and method.
[[nodiscard]] std::string to_markdown(const Report& report);

// Documents side by side as Markdown: the documents, the changes, and the cells that some documents
// lack.
[[nodiscard]] std::string to_markdown(const SideBySide& side);

// The same content for the terminal, shorter.
[[nodiscard]] std::string to_terminal(const SideBySide& side);

}  // namespace tandem::reports
