// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/answer/report.h"

namespace tandem::reports {

// The report for the terminal: the verdict and the advice, then their tables, at most some dozen
// rows each; the files of the report have all rows.
[[nodiscard]] std::string to_terminal(const Report& report);

}  // namespace tandem::reports
