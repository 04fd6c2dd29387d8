// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/model/summary.h"

namespace tandem::reports {

// One tidy table with a row per point at which dp and ddp are compared: the point, the median
// steps, the ratio of speeds with its interval, and the verdict on ddp. Figures are written as in
// cells.csv.
[[nodiscard]] std::string to_comparisons_csv(const Summary& summary);

}  // namespace tandem::reports
