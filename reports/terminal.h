// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/report.h"

namespace tandem::reports {

// For the terminal: the verdict and what to do, then the tables behind them, at most some dozen
// rows of each; the files beside it have all.
[[nodiscard]] std::string to_terminal(const Report& report);

}  // namespace tandem::reports
