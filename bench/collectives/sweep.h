// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/collectives/measurement.h"
#include "bench/collectives/options.h"
#include "bench/driver/google_benchmark.h"

namespace tandem::bench {

// Runs all cases of a job as one rank: all ranks run the same cases in the same order. The rank
// with a `driver` reports through it; the others, without one, follow. Ends at the first case that
// left a wrong element on any rank, and returns that in words, the same on all ranks; empty where
// every element is right. Collective.
[[nodiscard]] std::string run_cases(const Rank& rank, const CollectiveOptions& options,
                                    GoogleBenchmark* driver);

}  // namespace tandem::bench
