// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/side_by_side.h"

namespace tandem::reports {

// Documents side by side as Markdown: which they are, what changes, and which cells are not in all.
[[nodiscard]] std::string to_markdown(const SideBySide& side);

// The same for the terminal, shorter.
[[nodiscard]] std::string to_terminal(const SideBySide& side);

}  // namespace tandem::reports
