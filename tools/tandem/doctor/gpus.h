// SPDX-License-Identifier: Apache-2.0
//
// GPUs as they are before Tandem computes on them, as NVIDIA's nvidia-smi tells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/tandem/doctor/finding.h"
#include "tools/tandem/doctor/variables.h"

namespace tandem::doctor {

// Absent and empty: not told ("[N/A]").
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
  std::optional<double> celsius{};
};

// What is asked for, in this order.
inline constexpr const char* kGpuQuery =
    "index,pci.bus_id,uuid,name,driver_version,compute_mode,mig.mode.current,memory.used,"
    "memory.total,utilization.gpu,temperature.gpu";

// The answer, a line per GPU; lines of another form are left out.
[[nodiscard]] std::vector<IdleGpu> parse_gpus(const std::string& csv);

// Runs nvidia-smi; empty where it is not in PATH, fails, or does not answer within 20 s.
[[nodiscard]] std::vector<IdleGpu> ask_gpus();

// Those that CUDA_VISIBLE_DEVICES leaves, by number or by the beginning of their UUID. CUDA's
// numbers are taken to be nvidia-smi's, as they are where all GPUs are of one kind.
[[nodiscard]] std::vector<IdleGpu> visible_of(const std::vector<IdleGpu>& gpus,
                                              const Variables& variables);

// How many of `present` GPUs it leaves, where nothing else is known of them.
[[nodiscard]] int visible_gpus(const Variables& variables, int present);

// In use before anything of Tandem's ran: from 5 % of its time a problem, from 1 GiB of memory (a
// driver without clients takes less, at most some hundred MiB) a warning.
[[nodiscard]] Findings judge_gpus(const std::vector<IdleGpu>& gpus);

}  // namespace tandem::doctor
