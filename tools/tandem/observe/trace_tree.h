// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/timeline/summary.h"
#include "reports/text/blocks.h"

namespace tandem::cli {

// A trace for people: the mean step and how much of its communication work hides, the longest
// waits with their causes, and the critical path. The details have a row per step, and the clock.
[[nodiscard]] reports::Section tree_of(const timeline::Trace& trace);

}  // namespace tandem::cli
