// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/report.h"
#include "reports/table.h"

namespace tandem::reports {

// Figures that others published, each with its source, beside the same figure of these results, or
// why the two are not comparable.
[[nodiscard]] Table published_table(const Report& report);

}  // namespace tandem::reports
