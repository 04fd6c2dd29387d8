// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/timeline/step_view.h"
#include "common/timeline/timeline.h"

namespace tandem::timeline {

// The figures of the traced steps, by the definitions of the launch's record (`has_root` is one of
// these definitions), so that the two differ only by the cost of tracing. `steps` are the trace's
// steps, by number.
[[nodiscard]] LaunchFigures figures_of(const Trace& trace, const std::vector<StepView>& steps,
                                       bool has_root);

// A table for people: the traced and the untraced figures side by side, and the reason for each
// figure that tracing changed by more than 5 %. Empty where the trace has no untraced figures.
[[nodiscard]] std::string comparison_text(const Trace& trace);

}  // namespace tandem::timeline
