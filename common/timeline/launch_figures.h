// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/timeline/step_view.h"
#include "common/timeline/timeline.h"

namespace tandem::timeline {

// Of the trace's steps, by the very definitions of the launch's record (`has_root` is one of them):
// what they differ in is what tracing does. `steps` are the trace's, by number.
[[nodiscard]] LaunchFigures figures_of(const Trace& trace, const std::vector<StepView>& steps,
                                       bool has_root);

// For people: both beside each other, and of each that tracing changed by more than 5 % why. Empty
// where the trace has no figures without it.
[[nodiscard]] std::string comparison_text(const Trace& trace);

}  // namespace tandem::timeline
