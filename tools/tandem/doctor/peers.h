// SPDX-License-Identifier: Apache-2.0
//
// The connections between GPUs, as the driver tells and as copy_bench measures them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/doctor/program_run.h"
#include "tools/tandem/run/link_measurement.h"

namespace tandem::doctor {

using cli::CopySpeed;

struct CopyRun {
  ProgramRun run{};
  std::vector<CopySpeed> speeds{};
};

[[nodiscard]] CopyRun run_copies(const Programs& programs, int devices);

// Pairs without peer access are a warning. Copies slower than half of the median of their kind
// (between GPUs, to GPUs, from GPUs) are a warning too. Copies that arrive wrong are a problem:
// copy_bench checks every element. `gpus` is empty where the driver tells nothing.
[[nodiscard]] Findings judge_peers(const std::vector<results::GpuRecord>& gpus,
                                   const CopyRun& copies);

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
