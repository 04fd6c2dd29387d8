// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/model/explanation.h"

namespace tandem::reports {

// The explanation for the terminal; the hardware comes first.
[[nodiscard]] std::string to_text(const Explanation& explanation);

// The explanation as the text of explain.md.
[[nodiscard]] std::string to_markdown(const Explanation& explanation);

}  // namespace tandem::reports
