// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/explanation.h"

namespace tandem::reports {

// For the terminal; the hardware comes first.
[[nodiscard]] std::string to_text(const Explanation& explanation);

// The same as explain.md.
[[nodiscard]] std::string to_markdown(const Explanation& explanation);

}  // namespace tandem::reports
