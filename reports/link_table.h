// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "common/results/link_matrix.h"
#include "reports/table.h"

namespace tandem::reports {

inline constexpr std::string_view kLinksTitle = "Copies between devices: GB/s (latency)";

// Rows are where copies begin, columns where they go: "412.5 (6.1 us)". No rows where nothing was
// measured.
[[nodiscard]] Table link_table(const results::LinkMatrix& links);

// What the figures are of; or why there are none.
[[nodiscard]] std::string link_note(const results::LinkMatrix& links);

}  // namespace tandem::reports
