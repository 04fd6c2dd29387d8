// SPDX-License-Identifier: Apache-2.0
//
// Everything that people read, as trees of blocks: each section is written once, for all formats.
#pragma once

#include <string>
#include <vector>

#include "reports/answer/panels.h"
#include "reports/answer/report.h"
#include "reports/model/explanation.h"
#include "reports/model/projection.h"
#include "reports/text/blocks.h"

namespace tandem::reports {

// The most comparisons that a chart has; those on the most devices.
inline constexpr std::size_t kMostCharted = 60;

// The verdict and what to use, then what stands behind them, and the reasons to believe it.
[[nodiscard]] Section tree_of(const Report& report);

// The gap from dp to ddp; the hardware, the question and the answer come first.
[[nodiscard]] Section tree_of(const Explanation& explanation);

// The basis of a projection, its answer or its held-out cells, and the projected cells.
[[nodiscard]] Section tree_of(const Projection& projection);

// The answer of a projection as its report repeats it (kProjectedAnswer): what was projected, or
// nothing for a folder, what limits it with what fits, and each verdict.
[[nodiscard]] std::vector<std::string> answer_of(const Projection& projection);

// The basis of a projection in one sentence: its first line in every format.
[[nodiscard]] std::string standing_of(const Projection& projection);

// The same of a projection onto described hardware: the errors on published steps of systems with
// the same GPU, or that there are none.
[[nodiscard]] std::string standing_of(const Decisions& decisions);

// A cell in the words of the answer and why it was not projected, in one line.
[[nodiscard]] std::string not_projected_line(const NotProjected& cell,
                                             const Projection& projection);

}  // namespace tandem::reports
