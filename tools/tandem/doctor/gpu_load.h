// SPDX-License-Identifier: Apache-2.0
//
// The state of GPUs while Tandem computes on them: step_bench's own record of a second of steps.
#pragma once

#include <optional>

#include "common/results/launch_record.h"
#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/doctor/program_run.h"

namespace tandem::doctor {

struct GpuLoad {
  ProgramRun run{};
  std::optional<results::LaunchRecord> record{};  // set where the run is done
};

// Runs steps of an MLP on each of `devices` GPUs, as threads of one process.
[[nodiscard]] GpuLoad run_gpu_load(const Programs& programs, int devices);

// A run that ended well shows that driver and toolkit match; a failed run's own words hold the
// advice. Clocks that were held down for 1 % of the time or more are a warning, since the measured
// effects are as small.
[[nodiscard]] Findings judge_gpu_load(const GpuLoad& load);

}  // namespace tandem::doctor
