// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/profile/profile_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "common/base/error.h"
#include "common/base/input_file.h"
#include "common/options/strategies.h"
#include "common/timeline/picture.h"
#include "common/timeline/step_view.h"
#include "common/timeline/summary.h"
#include "common/timeline/trace_json.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/process/nvidia_device.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/profile/profiler_words.h"
#include "tools/tandem/report/output_folder.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

std::string launch_of(const ProfileOptions& options) {
  if (!options.launch.empty()) return options.launch;
  return std::string(options::usual_launch(options.strategy));
}

// The rule is that of step_bench's auto, which says why a GPU is unusable.
std::string backend_of(const ProfileOptions& options) {
  if (options.backend != "auto") return options.backend;
  return has_nvidia_device() ? "cuda" : "host";
}

bool is_nsys(const ProfileOptions& options) { return options.tool == "nsys"; }
bool is_ncu(const ProfileOptions& options) { return options.tool == "ncu"; }
bool is_timeline(const ProfileOptions& options) { return options.tool == "timeline"; }
bool is_contention(const ProfileOptions& options) { return options.tool == "contention"; }

// Whether step_bench itself observes the job.
bool is_own(const ProfileOptions& options) {
  return is_timeline(options) || is_contention(options);
}

Watcher watcher_of(const ProfileOptions& options) {
  if (is_timeline(options)) return Watcher::kTrace;
  return is_contention(options) ? Watcher::kContention : Watcher::kProfiler;
}

// The ending of the files that a profiler leaves.
std::string ending_of(const ProfileOptions& options) {
  return is_nsys(options) ? ".nsys-rep" : ".ncu-rep";
}

// Refuses options of step_bench that --out and --steps already set.
void check_rest(const std::vector<std::string>& rest) {
  for (const std::string& word : rest) {
    const std::string option = word.substr(0, word.find('='));
    if (option != "--trace" && option != "--trace-steps" && option != "--profile-steps" &&
        option != "--contention") {
      continue;
    }
    fail(ErrorKind::kUsage,
         "profile: {} is given to step_bench here, by --out and --steps: leave it out", option);
  }
}

void check(const ProfileOptions& options, const ProfiledJob& job) {
  if (!is_nsys(options) && !is_ncu(options) && !is_own(options)) {
    fail(ErrorKind::kUsage,
         "profile: '{}' is no profiler: use nsys, ncu, timeline or contention, or summary or "
         "picture with a trace",
         options.tool);
  }
  if (is_contention(options) && std::ranges::count(options.given, "--steps") > 0) {
    fail(ErrorKind::kUsage,
         "profile contention: --steps is of what captures some steps; it takes "
         "--contention-pairs=30 of blocks with and without communication");
  }
  if (!is_nsys(options) && options.osrt) {
    fail(ErrorKind::kUsage, "--osrt is an option of nsys and does nothing with {}: leave it out",
         options.tool);
  }
  if (!is_ncu(options) && !options.phases.empty()) {
    fail(ErrorKind::kUsage, "--phase is an option of ncu; {} records all phases: leave it out",
         options.tool);
  }
  if (is_ncu(options) && job.cell.backend == "host") {
    fail(ErrorKind::kUsage,
         "profile ncu: Nsight Compute looks into kernels of GPUs, and the host back end has none: "
         "use a node with an NVIDIA GPU and --backend=cuda, or tandem profile nsys");
  }
}

ProfiledJob job_of(const ProfileOptions& options) {
  ProfiledJob job;
  job.cell.strategy = options.strategy;
  job.cell.launch = launch_of(options);
  job.cell.devices = options.devices;
  job.cell.backend = backend_of(options);
  job.options = options.rest;
  job.oversubscribe = options.oversubscribe;
  job.steps = options.steps;
  job.watcher = watcher_of(options);
  check(options, job);
  check_rest(options.rest);
  job.site = checked_site(options.site);
  job.step_bench = find_step_bench(options.step_bench);
  // The path is absolute, since ranks on other nodes may start in another folder.
  job.out = fs::absolute(options.out.empty() ? new_folder("profile") : fs::path(options.out));
  return job;
}

void check_installed(const std::string& tool) {
  if (is_in_path(tool)) return;
  fail(ErrorKind::kUsage,
       "profile {0}: there is no program {0} in PATH: install {1} of NVIDIA's (in the CUDA "
       "toolkit's bin folder, or a package of its own), or run what --dry-run prints where it is",
       tool, tool == "nsys" ? "Nsight Systems" : "Nsight Compute");
}

constexpr std::string_view kStep = "--step=";

// Throws a usage error where the file is no trace of step_bench --trace, or no step of the trace
// has ended.
timeline::Trace read_trace(const std::filesystem::path& file) {
  const std::string text = read_whole({.path = file, .begins = "reading trace ", .most = gib(4)});
  timeline::Trace trace = timeline::parse_trace(text, file.string());
  if (timeline::steps_of(trace).empty()) {
    fail(ErrorKind::kUsage,
         "{}: no step of it has ended, so that there is nothing to say: record it again",
         file.string());
  }
  return trace;
}

// The one file among the words. Throws a usage error, which names the one `option` that there is,
// on any other number of files and on other options.
const std::string& only_file(const std::vector<std::string>& words, std::string_view tool,
                             std::string_view option) {
  if (words.size() == 1 && !words.front().starts_with("-")) return words.front();
  fail(ErrorKind::kUsage,
       "profile {}: name one trace, such as out/profile-1/trace.json, and no option but {}", tool,
       option);
}

// `profile picture TRACE [--step=N]`: prints one step of a trace as SVG, the median step by
// default. Throws a usage error on other words, on a file that is no trace of step_bench --trace,
// and on a step that the trace lacks.
int run_trace_picture(std::vector<std::string> words) {
  std::optional<int> step;
  for (const std::string& word : words) {
    if (!word.starts_with(kStep)) continue;
    const std::string number = word.substr(kStep.size());
    step = parse_number<int>(number).value_or(0);
    if (*step > 0) continue;
    fail(ErrorKind::kUsage, "profile picture: --step is '{}', not the number of a step, from 1",
         number);
  }
  std::erase_if(words, [](const std::string& word) { return word.starts_with(kStep); });
  const timeline::Trace trace = read_trace(only_file(words, "picture", "--step=NUMBER"));
  fmt::print("{}", timeline::to_svg(trace, step ? *step : timeline::median_step(trace)));
  return 0;
}

void print_summary(const std::filesystem::path& file) {
  const timeline::Trace trace = read_trace(file);
  fmt::print("{}", timeline::to_text(trace, timeline::summary_of(trace)));
}

// `profile summary TRACE [--json]`: prints a summary of the steps in a trace of step_bench --trace,
// for people or, with --json, for programs. `words` are the words after "summary".
int run_trace_summary(std::vector<std::string> words) {
  const bool as_json = std::erase(words, "--json") > 0;
  const std::string& file = only_file(words, "summary", "--json");
  if (as_json) {
    fmt::print("{}", timeline::to_json(timeline::summary_of(read_trace(file))));
  } else {
    print_summary(file);
  }
  return 0;
}

int run(const std::vector<std::string>& command, const Interrupts& interrupts) {
  return run_relayed(command, launch_environment(), interrupts);
}

std::vector<fs::path> reports_in(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> reports;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ending) reports.push_back(entry.path());
  }
  std::ranges::sort(reports);
  return reports;
}

void say_where(const ProfiledJob& job, const std::vector<fs::path>& reports,
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

// The reports in the folder: an earlier run may have had more ranks, and its reports would pass for
// this run's.
std::vector<fs::path> results_in(const ProfileOptions& options, const ProfiledJob& job) {
  if (!is_own(options)) return reports_in(job.out, ending_of(options));
  const fs::path report = own_report(job);
  return fs::exists(report) ? std::vector{report} : std::vector<fs::path>{};
}

void make_folder(const ProfileOptions& options, const ProfiledJob& job) {
  const std::string folder = job.out.string();
  std::error_code error;
  fs::create_directories(job.out, error);
  if (error) {
    fail(ErrorKind::kUsage, "--out: making {}: {}; choose another folder", folder, error.message());
  }
  const std::vector<fs::path> earlier = results_in(options, job);
  if (earlier.empty()) return;
  fail(ErrorKind::kUsage, "--out: {} holds {} of an earlier run: choose another folder", folder,
       earlier.front().filename().string());
}

int run_nsys(const ProfileOptions& options, const ProfiledJob& job, const Interrupts& interrupts) {
  const int status = run(nsys_command(job, options.osrt), interrupts);
  if (status != 0) return status;
  const std::vector<fs::path> reports = reports_in(job.out, ending_of(options));
  for (const fs::path& report : reports) {
    if (run(nsys_stats_command(job, report), interrupts) == 0) continue;
    fmt::print(stderr, "profile nsys: no tables of {}: see above; the report itself is whole\n",
               report.string());
  }
  say_where(job, reports, "nsys-ui, all ranks of a run at once; tables are beside them as .csv");
  return 0;
}

int run_ncu(const ProfileOptions& options, const ProfiledJob& job, const Interrupts& interrupts) {
  const int status = run(ncu_command(job, options.phases), interrupts);
  if (status == 0) say_where(job, reports_in(job.out, ending_of(options)), "ncu-ui");
  return status;
}

// step_bench itself has printed what --contention found.
int run_own(const ProfiledJob& job, const Interrupts& interrupts) {
  const int status = run(own_command(job), interrupts);
  if (status != 0 || job.watcher == Watcher::kContention) return status;
  fmt::print("\n");
  print_summary(own_report(job));
  fmt::print(
      "\n{}\nopen it with https://ui.perfetto.dev, which keeps it in the browser, or "
      "chrome://tracing\n",
      own_report(job).string());
  return 0;
}

int run_tool(const ProfileOptions& options, const ProfiledJob& job, const Interrupts& interrupts) {
  if (is_own(options)) return run_own(job, interrupts);
  return is_nsys(options) ? run_nsys(options, job, interrupts) : run_ncu(options, job, interrupts);
}

std::vector<std::string> command_of(const ProfileOptions& options, const ProfiledJob& job) {
  if (is_own(options)) return own_command(job);
  return is_nsys(options) ? nsys_command(job, options.osrt) : ncu_command(job, options.phases);
}

}  // namespace

int run_profile(const ProfileOptions& options) {
  if (options.tool == "summary" || options.tool == "picture") {
    if (!options.given.empty()) {
      fail(ErrorKind::kUsage,
           "profile {}: {} is of no use with a trace that there is: leave it out", options.tool,
           options.given.front());
    }
    return options.tool == "summary" ? run_trace_summary(options.rest)
                                     : run_trace_picture(options.rest);
  }
  const ProfiledJob job = job_of(options);
  if (options.dry_run) {
    fmt::print("{}\n", as_typed(command_of(options, job)));
    return 0;
  }
  if (!is_own(options)) check_installed(options.tool);
  const Interrupts interrupts;
  // The options are checked before a profiler starts, so that the error is the only output.
  if (const int status = run(check_command(job), interrupts); status != 0) return status;
  make_folder(options, job);
  const int status = run_tool(options, job, interrupts);
  std::error_code not_empty;
  if (status != 0) fs::remove(job.out, not_empty);
  return status;
}

}  // namespace tandem::cli
