// SPDX-License-Identifier: Apache-2.0
//
// The command lines of Nsight Systems and Nsight Compute for a job.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/tandem/observe/observed_job.h"

namespace tandem::cli {

// nsys in each rank, under the site's launcher: CUDA, NVTX and, in processes, MPI; `osrt` adds
// calls of the operating system; no sampling. nsys captures the range from cudaProfilerStart to
// cudaProfilerStop; on the host, where no program calls these functions, an NVTX range. CUDA graphs
// are traced node by node. Each rank writes a report named by its number.
[[nodiscard]] std::vector<std::string> nsys_command(const ObservedJob& job, bool osrt);

// ncu in each rank: kernels of the given phases, or of whole steps where `phases` is empty. Kernels
// of NCCL are left out, since a kernel that is replayed alone waits for other ranks for ever;
// clocks are left as they are.
[[nodiscard]] std::vector<std::string> ncu_command(const ObservedJob& job,
                                                   const std::vector<std::string>& phases);

// The command that writes the tables of an nsys report as CSV files beside the report.
[[nodiscard]] std::vector<std::string> nsys_stats_command(const ObservedJob& job,
                                                          const std::filesystem::path& report);

// How many reports the job writes.
[[nodiscard]] int report_count(const ObservedJob& job);

}  // namespace tandem::cli
