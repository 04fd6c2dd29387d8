// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/report.h"
#include "reports/table.h"

namespace tandem::reports {

// A row per published figure with its source, beside the same figure of these results, or why the
// two cannot be compared.
[[nodiscard]] Table published_table(const Report& report);

}  // namespace tandem::reports
