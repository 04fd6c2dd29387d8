// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/report.h"

namespace tandem::reports {

// The report as one page that loads nothing: styles, charts and figures are inside. The verdict
// comes first and, like the tables, needs no script.
[[nodiscard]] std::string to_html(const Report& report);

// Text as HTML: markup characters and quotes escaped.
[[nodiscard]] std::string escape_html(const std::string& text);

}  // namespace tandem::reports
