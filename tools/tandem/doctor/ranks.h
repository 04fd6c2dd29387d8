// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/doctor/program_run.h"

namespace tandem::doctor {

// Runs of two ranks on this node's cores, which check every element of an all-reduce.
struct RankRuns {
  ProgramRun over_mpi{};
  ProgramRun over_shared_memory{};
};

[[nodiscard]] RankRuns run_ranks(const Programs& programs);

// Whether the ranks of a launch did not find each other: each rank took itself for the only one.
[[nodiscard]] bool is_isolated(const ProgramRun& run);

// The finding about a run of ranks. Isolated ranks and a missing launcher have findings of their
// own, apart from other failures.
[[nodiscard]] Finding judge_launch(const ProgramRun& run, const std::string& subject,
                                   const std::string& done);

[[nodiscard]] Findings judge_ranks(const RankRuns& runs);

}  // namespace tandem::doctor
