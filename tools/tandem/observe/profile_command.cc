// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/observe/profile_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/phases.h"
#include "tools/tandem/observe/profiler_words.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/report/output_folder.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

bool is_nsys(const ProfileOptions& options) { return options.profiler == Profiler::kNsys; }

std::string_view program_of(const ProfileOptions& options) {
  return is_nsys(options) ? "nsys" : "ncu";
}

// The ending of the files that a profiler leaves.
std::string_view ending_of(const ProfileOptions& options) {
  return is_nsys(options) ? ".nsys-rep" : ".ncu-rep";
}

ObservedJob job_of(const ProfileOptions& options) {
  ObservedJob job = job_of(options.job, Watcher::kProfiler, "profile");
  if (!is_nsys(options) && job.cell.backend == "host") {
    fail(ErrorKind::kUsage,
         "profile ncu: Nsight Compute looks into kernels of GPUs, and the host back end has none: "
         "use a node with an NVIDIA GPU and --backend=cuda, or tandem profile nsys");
  }
  job.steps = options.steps;
  // The path is absolute, since ranks on other nodes may start in another folder.
  job.out = fs::absolute(options.out.empty() ? new_folder("profile") : fs::path(options.out));
  return job;
}

void check_phases(const std::vector<std::string>& phases) {
  for (const std::string& phase : phases) {
    if (find_phase(phase) == nullptr) fail_unknown("--phase", phase, kPhaseNames);
  }
}

void check_installed(const ProfileOptions& options) {
  const std::string program(program_of(options));
  if (is_in_path(program)) return;
  fail(ErrorKind::kUsage,
       "profile {0}: there is no program {0} in PATH: install {1} of NVIDIA's (in the CUDA "
       "toolkit's bin folder, or a package of its own), or run what --dry-run prints where it is",
       program, is_nsys(options) ? "Nsight Systems" : "Nsight Compute");
}

std::vector<fs::path> reports_in(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> reports;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder, absent)) {
    if (entry.path().extension() == ending) reports.push_back(entry.path());
  }
  std::ranges::sort(reports);
  return reports;
}

void say_where(const ObservedJob& job, const std::vector<fs::path>& reports,
               const std::string& viewer) {
  for (const fs::path& report : reports) fmt::print("{}\n", report.string());
  if (static_cast<int>(reports.size()) < report_count(job)) {
    fail(ErrorKind::kFailure,
         "profile: {} of {} reports are in {}: see above for what the profiler said of the others; "
         "on several nodes --out has to be a folder that all share",
         reports.size(), report_count(job), job.out.string());
  }
  fmt::print("open them with {}\n", viewer);
}

int run_nsys(const ProfileOptions& options, const ObservedJob& job, const Interrupts& interrupts) {
  const int status = run_in_clean_environment(nsys_command(job, options.osrt), interrupts);
  if (status != 0) return status;
  const std::vector<fs::path> reports = reports_in(job.out, ending_of(options));
  for (const fs::path& report : reports) {
    if (run_in_clean_environment(nsys_stats_command(job, report), interrupts) == 0) continue;
    fmt::print(stderr, "profile nsys: no tables of {}: see above; the report itself is whole\n",
               report.string());
  }
  say_where(job, reports, "nsys-ui, all ranks of a run at once; tables are beside them as .csv");
  return 0;
}

int run_ncu(const ProfileOptions& options, const ObservedJob& job, const Interrupts& interrupts) {
  const int status = run_in_clean_environment(ncu_command(job, options.phases), interrupts);
  if (status == 0) say_where(job, reports_in(job.out, ending_of(options)), "ncu-ui");
  return status;
}

std::vector<std::string> command_of(const ProfileOptions& options, const ObservedJob& job) {
  return is_nsys(options) ? nsys_command(job, options.osrt) : ncu_command(job, options.phases);
}

}  // namespace

int run_profile(const ProfileOptions& options) {
  check_phases(options.phases);
  const ObservedJob job = job_of(options);
  if (!options.job.dry_run) check_installed(options);
  const Interrupts interrupts;
  // The options are checked before a profiler starts, so that the error is the only output.
  if (const int status = run_in_clean_environment(check_command(job), interrupts); status != 0) {
    return status;
  }
  if (options.job.dry_run) {
    fmt::print("{}\n", as_typed(command_of(options, job)));
    return 0;
  }
  // An earlier run may have had more ranks, and its reports would pass for this run's.
  make_folder(job, reports_in(job.out, ending_of(options)));
  const int status =
      is_nsys(options) ? run_nsys(options, job, interrupts) : run_ncu(options, job, interrupts);
  std::error_code not_empty;
  if (status != 0) fs::remove(job.out, not_empty);
  return status;
}

}  // namespace tandem::cli
