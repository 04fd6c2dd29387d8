// SPDX-License-Identifier: Apache-2.0
//
// The strategies that step_bench times where its command names no cell, as programs of Google
// Benchmark are called: a list of strategies, for a filter to choose from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/step/step_flags.h"
#include "bench/step/step_options.h"

namespace tandem::bench {

// Samples per device of each listed strategy.
inline constexpr std::int64_t kListedBatch = 64;

// Whether the command names no cell: neither a batch nor an option about one launch or one
// strategy, which needs a batch.
[[nodiscard]] bool names_no_cell(const CLI::App& app, const StepFlags& flags);

// The strategies that run as this process was started, or the one strategy that is named.
[[nodiscard]] std::vector<std::string> strategies_to_list(const CLI::App& app,
                                                          const StepFlags& flags);

// The options of a step of each listed strategy, or of the one strategy.
[[nodiscard]] std::vector<StepOptions> each_listed(const StepOptions& options);

}  // namespace tandem::bench
