// SPDX-License-Identifier: Apache-2.0
//
// The command lines of Nsight Systems, Nsight Compute and step_bench's own passes for a job of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/launch_site.h"

namespace tandem::cli {

// Who looks at the job.
enum class Watcher {
  kProfiler,
  kTrace,       // step_bench itself: --trace
  kContention,  // and --contention
};

// What is to be profiled.
struct ProfiledJob {
  results::Cell cell;  // of which strategy, launch, devices and backend ("host" or "cuda") count
  LaunchSite site{};
  std::filesystem::path step_bench;
  std::vector<std::string> options{};  // of step_bench besides, as given
  bool oversubscribe = false;
  int steps = 10;  // captured, of each rank, behind the warm-up
  Watcher watcher = Watcher::kProfiler;
  std::filesystem::path out;  // folder of the reports
};

// Under the site's launcher, nsys in each rank: CUDA, NVTX and, of processes, MPI, with `osrt`
// calls of the operating system too; no sampling. Captures what lies between cudaProfilerStart and
// Stop; on the host, where nobody calls them, the NVTX range that is there in their stead. Of CUDA
// graphs every node. A report per rank, named by its number.
[[nodiscard]] std::vector<std::string> nsys_command(const ProfiledJob& job, bool osrt);

// The same of ncu: kernels of these phases, none: of whole steps. Those of NCCL are left out, since
// they wait for other ranks, which a kernel that is replayed alone does for ever; clocks are left
// as they are.
[[nodiscard]] std::vector<std::string> ncu_command(const ProfiledJob& job,
                                                   const std::vector<std::string>& phases);

// Tables of a report of nsys as CSV files beside it.
[[nodiscard]] std::vector<std::string> nsys_stats_command(const ProfiledJob& job,
                                                          const std::filesystem::path& report);

// step_bench under the site's launcher, which watches itself.
[[nodiscard]] std::vector<std::string> own_command(const ProfiledJob& job);

// The file that it writes.
[[nodiscard]] std::filesystem::path own_report(const ProfiledJob& job);

// What makes step_bench take the steps to be looked at.
[[nodiscard]] std::vector<std::string> watch_words(const ProfiledJob& job);

// How many reports there will be.
[[nodiscard]] int report_count(const ProfiledJob& job);

// As one would type it into a shell.
[[nodiscard]] std::string as_typed(const std::vector<std::string>& command);

}  // namespace tandem::cli
