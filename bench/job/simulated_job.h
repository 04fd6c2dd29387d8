// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/job/job.h"

namespace tandem::bench {

// The ranks of a simulated job: one where ranks are threads, and where they are processes one that
// stands for all, as equal ranks do equal work.
[[nodiscard]] std::unique_ptr<Bootstrap> simulated_ranks(const JobOptions& options);

// Opens the devices that --hardware describes, as open_job() opens those of this machine.
[[nodiscard]] Job open_simulated_job(Bootstrap& bootstrap, const JobOptions& options);

}  // namespace tandem::bench
