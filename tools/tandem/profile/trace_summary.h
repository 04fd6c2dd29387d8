// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/timeline/timeline.h"

namespace tandem::cli {

// `tandem profile picture TRACE [--step=N]`: prints one step of a trace as SVG, the median step by
// default. Returns 0. Throws a usage error on other words, on a file that is no trace of step_bench
// --trace, and on a step that the trace lacks.
[[nodiscard]] int run_trace_picture(std::vector<std::string> words);

// `tandem profile summary TRACE [--json]`: prints a summary of the steps in a trace of step_bench
// --trace, for people or, with --json, for programs. `words` are the words after "summary".
[[nodiscard]] int run_trace_summary(std::vector<std::string> words);

// Prints the summary for people.
void print_summary(const std::filesystem::path& trace);

}  // namespace tandem::cli
