// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bench/job/job.h"

namespace tandem::bench {

// The ranks of a simulated job: one where ranks are threads, and where they are processes one that
// stands for all, as equal ranks do equal work. Ranks of unlike work run in one process, as
// SimulatedRanks.
[[nodiscard]] std::unique_ptr<Bootstrap> simulated_ranks(const JobOptions& options);

// What the times of simulated operations since the last call rest on, in words; empty where they
// are not calibrated.
[[nodiscard]] std::string take_cost_basis(const Job& job);

// Opens the devices that --hardware describes or that were calibrated, as open_job() opens those of
// this machine.
[[nodiscard]] Job open_simulated_job(Bootstrap& bootstrap, const JobOptions& options);

}  // namespace tandem::bench
