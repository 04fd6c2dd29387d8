// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/summary.h"

namespace tandem::reports {

// What the driver told of the GPUs that makes a reader doubt a figure: clocks held down, other
// work on them, threads far from them, a GPU divided into instances. A line for each kind; none on
// the host.
[[nodiscard]] std::vector<std::string> gpu_notes(const results::Document& document);

// Beside the figure: for how much of the measurement the clocks of the GPU that was worst off were
// held down, and by what; where the driver counts no time, what held them down when it was asked,
// before and after. Empty: nothing did, or it did not tell.
[[nodiscard]] std::string slowdown_mark(const CellSummary& cell);

}  // namespace tandem::reports
