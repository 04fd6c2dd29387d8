// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/model/explanation.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// The gap at each compared point where every rung of the ladder was measured: at most four points,
// on the most devices. `tandem explain` measures missing rungs.
[[nodiscard]] std::vector<Explanation> explained_points(const results::Document& document,
                                                        const Summary& summary);

}  // namespace tandem::reports
