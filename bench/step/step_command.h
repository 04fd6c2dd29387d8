// SPDX-License-Identifier: Apache-2.0
//
// The command line of step_bench, of each rank and of all ranks together.
#pragma once

#include <optional>
#include <vector>

#include "bench/step/step_options.h"
#include "common/comm/bootstrap.h"

namespace tandem::bench {

// The options of the command line. Where the command names no cell, neither a batch nor an option
// about one launch or one strategy, the options are those of the strategies that run as this
// process was started, with 64 samples per device: a list for Google Benchmark's filter to choose
// from. Throws usage errors; with --help or --models, prints the answer and returns nothing.
[[nodiscard]] std::optional<StepOptions> parse_step_options(int argc, const char* const* argv);

// The options of a step of each listed strategy, or of the one strategy.
[[nodiscard]] std::vector<StepOptions> each_listed(const StepOptions& options);

// Throws a usage error on all ranks where any rank was started with other options than rank 0, as a
// launcher may do: ranks with other options would call other collectives. Only rank 0 writes files,
// so the names of files may differ. Collective.
void check_same_options(Bootstrap& bootstrap, const StepOptions& options);

}  // namespace tandem::bench
