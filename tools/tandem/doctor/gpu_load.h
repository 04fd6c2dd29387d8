// SPDX-License-Identifier: Apache-2.0
//
// GPUs while Tandem computes on them: step_bench's own account of a second of steps.
#pragma once

#include <optional>

#include "common/results/launch_record.h"
#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/doctor/program_run.h"

namespace tandem::doctor {

struct GpuLoad {
  ProgramRun run{};
  std::optional<results::LaunchRecord> record{};  // of a run that is done
};

// Steps of an MLP on each of `devices` GPUs, as threads of one process.
[[nodiscard]] GpuLoad run_gpu_load(const Programs& programs, int devices);

// Driver and toolkit match where it ran at all; what it said else holds what to do. Clocks that
// were held down for 1 % of the time or more are a warning: the effects that are measured are as
// small.
[[nodiscard]] Findings judge_gpu_load(const GpuLoad& load);

}  // namespace tandem::doctor
