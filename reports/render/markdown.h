// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/report.h"

namespace tandem::reports {

// The report as Markdown: verdict, tables, machine and method.
[[nodiscard]] std::string to_markdown(const Report& report);

}  // namespace tandem::reports
