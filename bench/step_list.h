// SPDX-License-Identifier: Apache-2.0
//
// What step_bench times where its command names no cell, as programs of Google Benchmark are
// called: a list of strategies, for a filter to choose from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/step_flags.h"
#include "bench/step_options.h"

namespace tandem::bench {

// Samples per device of what is listed.
inline constexpr std::int64_t kListedBatch = 64;

// Whether there is no batch. What is about one launch or one strategy needs one all the same.
[[nodiscard]] bool names_no_cell(const CLI::App& app, const StepFlags& flags);

// Those that run as this process was started, or the one that is named.
[[nodiscard]] std::vector<std::string> strategies_to_list(const CLI::App& app,
                                                          const StepFlags& flags);

// A step of each listed strategy, or of the one.
[[nodiscard]] std::vector<StepOptions> each_listed(const StepOptions& options);

}  // namespace tandem::bench
