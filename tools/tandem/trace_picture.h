// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

// `tandem profile picture TRACE [--step=N]`: prints one step of a trace as SVG, the median one
// unless it is said which. Returns 0; a usage error for other words, files that are no trace of
// step_bench --trace, and steps that it has not.
[[nodiscard]] int run_trace_picture(const std::vector<std::string>& words);

}  // namespace tandem::cli
