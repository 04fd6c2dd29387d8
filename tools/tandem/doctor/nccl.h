// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/doctor/program_run.h"

namespace tandem::doctor {

// All-reduces over NCCL between all GPUs, each element checked.
struct NcclRuns {
  int devices = 0;
  ProgramRun threads{};    // all GPUs in one process
  ProgramRun processes{};  // a process per GPU, under mpirun
};

// Runs nothing where there are fewer than two GPUs: a world of one has no collective.
[[nodiscard]] NcclRuns run_nccl(const Programs& programs, int devices);

[[nodiscard]] Findings judge_nccl(const NcclRuns& runs);

}  // namespace tandem::doctor
