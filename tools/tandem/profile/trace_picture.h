// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

// `tandem profile picture TRACE [--step=N]`: prints one step of a trace as SVG, the median step by
// default. Returns 0. Throws a usage error on other words, on a file that is no trace of step_bench
// --trace, and on a step that the trace lacks.
[[nodiscard]] int run_trace_picture(const std::vector<std::string>& words);

}  // namespace tandem::cli
