// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/tables/side_by_side.h"

namespace tandem::reports {

// Documents side by side as Markdown: the documents, the changes, and the cells that some documents
// lack.
[[nodiscard]] std::string to_markdown(const SideBySide& side);

// The same content for the terminal, shorter.
[[nodiscard]] std::string to_terminal(const SideBySide& side);

}  // namespace tandem::reports
