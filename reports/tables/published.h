// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A row per published figure with its source, beside the same figure of these results, or why the
// two cannot be compared.
[[nodiscard]] TextTable published_table(const Summary& summary);

}  // namespace tandem::reports
