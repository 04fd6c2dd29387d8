// SPDX-License-Identifier: Apache-2.0
//
// The command lines of Nsight Systems, Nsight Compute and step_bench's own passes for a job.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/launch/launch_site.h"

namespace tandem::cli {

// The program that observes the job.
enum class Watcher {
  kProfiler,
  kTrace,       // step_bench with --trace
  kContention,  // step_bench with --contention
};

// The job to be profiled.
struct ProfiledJob {
  results::Cell cell;  // only strategy, launch, devices and backend ("host" or "cuda") count
  LaunchSite site{};
  std::filesystem::path step_bench;
  std::vector<std::string> options{};  // further options of step_bench, as given
  bool oversubscribe = false;
  int steps = 10;  // captured steps of each rank, after the warm-up
  Watcher watcher = Watcher::kProfiler;
  std::filesystem::path out;  // folder of the reports
};

// nsys in each rank, under the site's launcher: CUDA, NVTX and, in processes, MPI; `osrt` adds
// calls of the operating system; no sampling. nsys captures the range from cudaProfilerStart to
// cudaProfilerStop; on the host, where no program calls these functions, an NVTX range. CUDA graphs
// are traced node by node. Each rank writes a report named by its number.
[[nodiscard]] std::vector<std::string> nsys_command(const ProfiledJob& job, bool osrt);

// ncu in each rank: kernels of the given phases, or of whole steps where `phases` is empty. Kernels
// of NCCL are left out, since a kernel that is replayed alone waits for other ranks for ever;
// clocks are left as they are.
[[nodiscard]] std::vector<std::string> ncu_command(const ProfiledJob& job,
                                                   const std::vector<std::string>& phases);

// The command that writes the tables of an nsys report as CSV files beside the report.
[[nodiscard]] std::vector<std::string> nsys_stats_command(const ProfiledJob& job,
                                                          const std::filesystem::path& report);

// step_bench, which only checks the job's options.
[[nodiscard]] std::vector<std::string> check_command(const ProfiledJob& job);

// step_bench under the site's launcher, with its own observation on.
[[nodiscard]] std::vector<std::string> own_command(const ProfiledJob& job);

// The file that own_command() writes.
[[nodiscard]] std::filesystem::path own_report(const ProfiledJob& job);

// How many reports the job writes.
[[nodiscard]] int report_count(const ProfiledJob& job);

// The command as a user would type it into a shell.
[[nodiscard]] std::string as_typed(const std::vector<std::string>& command);

}  // namespace tandem::cli
