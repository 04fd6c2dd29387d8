// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/timeline/timeline.h"

namespace tandem::cli {

// `tandem profile summary TRACE [--json]`, of which `words` are what comes behind summary: prints
// what a trace of step_bench --trace says of its steps, for people or, with --json, for programs.
[[nodiscard]] int run_trace_summary(const std::vector<std::string>& words);

// Usage errors where it is none of step_bench --trace.
[[nodiscard]] timeline::Trace read_trace(const std::filesystem::path& file);

// For people.
void print_summary(const std::filesystem::path& trace);

}  // namespace tandem::cli
