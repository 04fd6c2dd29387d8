// SPDX-License-Identifier: Apache-2.0
//
// What lies between GPUs, as the driver has it and as copy_bench measures it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/results/gpu_record.h"
#include "tools/tandem/copy_speeds.h"
#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/doctor/program_run.h"

namespace tandem::doctor {

using cli::CopySpeed;

struct CopyRun {
  ProgramRun run{};
  std::vector<CopySpeed> speeds{};
};

[[nodiscard]] CopyRun run_copies(const Programs& programs, int devices);

// Pairs without peer access are a warning; and so is what is slower than half of the median of its
// kind: copies between GPUs, to them, and from them. Copies that arrive wrong are a problem, said
// by copy_bench, which checks every element. `gpus` may be empty: not told.
[[nodiscard]] Findings judge_peers(const std::vector<results::GpuRecord>& gpus,
                                   const CopyRun& copies);

}  // namespace tandem::doctor
