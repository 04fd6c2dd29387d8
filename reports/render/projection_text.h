// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/model/projection.h"

namespace tandem::reports {

// What stands behind the projection, in one sentence: its first line wherever it is shown.
[[nodiscard]] std::string standing_of(const Projection& projection);

// The hold-out table, the errors of all methods, coverage, signs and memory, then the projected
// cells; for a terminal, and as Markdown.
[[nodiscard]] std::string to_text(const Projection& projection, const SignsTold& signs);
[[nodiscard]] std::string to_markdown(const Projection& projection, const SignsTold& signs);

}  // namespace tandem::reports
