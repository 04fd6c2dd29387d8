// SPDX-License-Identifier: Apache-2.0
//
// The points between which the winner of dp and ddp changes, and cells that would decide the rest.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.h"

namespace tandem::reports {

// Sentences that say where the winner changes within the tested range, along the batch and along
// the devices, or that the winner does not change. A change lies only between two resolved
// points. Empty without comparisons on two devices or more.
[[nodiscard]] std::vector<std::string> break_even_lines(const Summary& summary);

// The range of the comparisons on two devices or more, "batch 64 to 512, 2 models, 2 devices";
// empty without such comparisons.
[[nodiscard]] std::string tested_range(const Summary& summary);

// Whether dp against ddp is resolved at any point on two devices or more.
[[nodiscard]] bool any_resolved(const Summary& summary);

// The sweep that would decide the open comparisons; empty where none is open.
[[nodiscard]] std::string deciding_sweep(const Summary& summary);

}  // namespace tandem::reports
