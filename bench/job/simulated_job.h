// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "bench/job/job.h"

namespace tandem::bench {

// The ranks of a simulated job: one where ranks are threads, and where they are processes one that
// stands for all, as equal ranks do equal work. Ranks of unlike work run in one process, as
// SimulatedRanks.
[[nodiscard]] std::unique_ptr<Bootstrap> simulated_ranks(const JobOptions& options);

// The shares of the critical path of the steps since the last call, by what they are of and rest on
// (simulate/engine/task.h); empty where the job is not simulated.
[[nodiscard]] std::map<std::string, double> take_path_shares(const Job& job);

// The same in words: "critical path: operations 71 % measured, 3 % interpolated; host 26 %".
[[nodiscard]] std::string path_words(const std::map<std::string, double>& shares);

// Opens the devices that --hardware describes or that were calibrated, as open_job() opens those of
// this machine.
[[nodiscard]] Job open_simulated_job(Bootstrap& bootstrap, const JobOptions& options);

}  // namespace tandem::bench
