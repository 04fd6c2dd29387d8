// SPDX-License-Identifier: Apache-2.0
//
// The state of GPUs: before Tandem computes on them, as NVIDIA's nvidia-smi reports it, and while
// Tandem computes on them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/doctor/limits.h"
#include "tools/tandem/doctor/program_run.h"

namespace tandem::doctor {

// A field that nvidia-smi does not report ("[N/A]") is absent or empty.
struct IdleGpu {
  std::string index{};
  std::string pci{};
  std::string uuid{};
  std::string name{};
  std::string driver{};
  std::string compute_mode{};  // "Default", "Exclusive_Process", "Prohibited"
  std::string mig{};           // "Enabled", "Disabled"
  std::optional<double> used_mib{};
  std::optional<double> total_mib{};
  std::optional<double> utilization{};  // percent of the last second or less in which a kernel ran
};

// The GPUs in nvidia-smi's answer, a line each; lines of another form are left out.
[[nodiscard]] std::vector<IdleGpu> parse_gpus(const std::string& csv);

// Runs nvidia-smi; empty where it is not in PATH, fails, or does not answer within 20 s.
[[nodiscard]] std::vector<IdleGpu> ask_gpus();

// The GPUs that CUDA_VISIBLE_DEVICES leaves visible, by number or by the beginning of their UUID.
// CUDA's numbers are taken as nvidia-smi's, which is true where all GPUs are of one kind.
[[nodiscard]] std::vector<IdleGpu> visible_of(const std::vector<IdleGpu>& gpus,
                                              const Variables& variables);

// Judges whether other programs use a GPU before Tandem does: 5 % of the GPU's time or more is a
// problem, 1 GiB of its memory or more a warning (a driver without clients takes some hundred MiB
// at most).
[[nodiscard]] Findings judge_gpus(const std::vector<IdleGpu>& gpus);

// The GPUs under load: step_bench's own record of a second of steps.
struct GpuLoad {
  ProgramRun run{};
  std::optional<results::LaunchRecord> record{};  // set where the run is done
};

// Runs steps of an MLP on each of `devices` GPUs, as threads of one process.
[[nodiscard]] GpuLoad run_gpu_load(const Programs& programs, int devices);

// A run that ended well shows that driver and toolkit match; a failed run's own words hold the
// advice. Pairs without peer access are a warning. What clocks and other processes do during a run,
// each run's own report says.
[[nodiscard]] Findings judge_gpu_load(const GpuLoad& load);

}  // namespace tandem::doctor
