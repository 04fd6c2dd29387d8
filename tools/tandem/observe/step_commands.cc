// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/observe/step_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "common/base/error.h"
#include "common/base/input_file.h"
#include "common/base/text.h"
#include "common/options/strategies.h"
#include "common/results/files.h"
#include "common/results/launch_record.h"
#include "common/timeline/clocks.h"
#include "common/timeline/step_view.h"
#include "common/timeline/summary.h"
#include "common/timeline/trace_json.h"
#include "reports/render/formats.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/launch/python_script.h"
#include "tools/tandem/observe/trace_tree.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/nvidia_device.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/screen.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct ObservedJob {
  results::Cell cell;  // only strategy, launch, devices and backend ("host" or "cuda") count
  LaunchSite site{};
  fs::path step_bench;
  std::vector<std::string> options{};  // further options of step_bench, as given
  bool oversubscribe = false;
  int steps = 10;  // captured steps of each rank, after the warm-up
  fs::path out{};  // folder of a trace; empty: the job is verified
};

std::string launch_of(const StepJobOptions& options) {
  if (!options.launch.empty()) return options.launch;
  return std::string(options::usual_launch(options.strategy));
}

// The rule is that of step_bench's auto, which says why a GPU is unusable.
std::string backend_of(const StepJobOptions& options) {
  if (options.backend != "auto") return options.backend;
  return has_nvidia_device() ? "cuda" : "host";
}

// Refuses options of step_bench that the verb already sets.
void check_rest(const Words& rest, const std::string& verb) {
  for (const std::string& word : rest) {
    const std::string option = word.substr(0, word.find('='));
    if (option != "--file" && option != "--profile-steps") continue;
    fail(ErrorKind::kUsage, "{}: {} is what a verb of tandem gives to step_bench: leave it out{}",
         verb, option, option == "--file" ? "" : ", or use --steps");
  }
}

// The file that step_bench trace writes.
fs::path own_report(const ObservedJob& job) { return job.out / "trace.json"; }

// The run of step_bench that observes, with its options.
Words watch_words(const ObservedJob& job) {
  if (job.out.empty()) return {"verify"};
  return {"trace", "--file=" + own_report(job).string(), fmt::format("--steps={}", job.steps)};
}

// step_bench with the run that observes and the job's options.
Words step_bench_words(const ObservedJob& job) {
  Words words{job.step_bench.string()};
  for (const Words& some :
       {watch_words(job),
        Words{"--strategy=" + job.cell.strategy, "--launch=" + job.cell.launch,
              fmt::format("--devices={}", job.cell.devices), "--backend=" + job.cell.backend}}) {
    words.insert(words.end(), some.begin(), some.end());
  }
  if (job.oversubscribe) words.emplace_back("--oversubscribe");
  words.insert(words.end(), job.options.begin(), job.options.end());
  return words;
}

// step_bench under the site's launcher.
Words own_command(const ObservedJob& job) {
  Words words = launcher_words(job.site, job.cell, job.oversubscribe);
  const Words program = step_bench_words(job);
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

void make_folder(const ObservedJob& job) {
  const std::string folder = job.out.string();
  std::error_code error;
  fs::create_directories(job.out, error);
  if (error) {
    fail(ErrorKind::kUsage, "--out: making {}: {}; choose another folder", folder, error.message());
  }
  const fs::path report = own_report(job);
  if (!fs::exists(report)) return;
  fail(ErrorKind::kUsage, "--out: {} holds {} of an earlier run: choose another folder", folder,
       report.filename().string());
}

// The job of a verb. Throws a usage error where the site is impossible, or where the options hold
// one that the verb sets; `verb` is named in it.
ObservedJob job_of(const StepJobOptions& options, const std::string& verb) {
  check_rest(options.rest, verb);
  ObservedJob job;
  job.cell.strategy = options.strategy;
  job.cell.launch = launch_of(options);
  job.cell.devices = options.devices;
  job.cell.backend = backend_of(options);
  job.site = checked_site(options.site);
  job.step_bench = find_step_bench(options.step_bench);
  job.options = options.rest;
  job.oversubscribe = options.oversubscribe;
  return job;
}

// Runs a command whose report is a file: what it prints, the table of samples and the launcher's
// notices, is shown where it fails. Returns its exit status.
int run_unheard(const Words& command, const Interrupts& interrupts) {
  const ChildResult child = run_child({.arguments = command,
                                       .environment = launch_environment(),
                                       .log = "/dev/null",
                                       .timeout = std::chrono::years(1)},
                                      interrupts);
  if (interrupts.requested()) return interrupted_exit();
  if (child.end == ChildResult::End::kNotStarted) {
    fail(ErrorKind::kFailure, "starting {}: is it installed and in PATH?", command.front());
  }
  if (!child.has_exited(0)) fmt::print(stderr, "{}", child.stderr_text);
  return child.end == ChildResult::End::kExited ? child.code : 1;
}

// Runs step_bench under the site's launcher, in an environment that changes no measurement, or
// prints its command line where the options ask for a dry run; the options are checked before a
// rank starts, so that an error is the only output. Returns step_bench's exit status. Throws a
// usage error where the job's folder cannot be made, or holds an earlier report, which would pass
// for this job's.
int run_own(const ObservedJob& job, const StepJobOptions& options) {
  const Interrupts interrupts;
  Words checking = step_bench_words(job);
  checking.emplace_back("--check");
  if (const int status = run_relayed(checking, launch_environment(), interrupts); status != 0) {
    return status;
  }
  if (options.dry_run) {
    Words typed = own_command(job);
    std::ranges::transform(typed, typed.begin(), shell_word);
    fmt::print("{}\n", fmt::join(typed, " "));
    return 0;
  }
  const bool has_report = !job.out.empty();
  if (has_report) make_folder(job);
  const int status = has_report ? run_unheard(own_command(job), interrupts)
                                : run_relayed(own_command(job), launch_environment(), interrupts);
  std::error_code not_empty;
  if (status != 0 && has_report) fs::remove(job.out, not_empty);
  return status;
}

InputFile trace_file(const fs::path& file) {
  return {.path = file, .begins = "reading trace ", .most = gib(4)};
}

// Throws a usage error where the file is no trace of step_bench trace, or no step of the trace
// has ended.
timeline::Trace read_trace(const fs::path& file) {
  const std::string text = read_whole(trace_file(file));
  timeline::Trace trace = timeline::parse_trace(text, file.string());
  if (timeline::steps_of(trace).empty()) {
    fail(ErrorKind::kUsage,
         "{}: no step of it has ended, so that there is nothing to say: record it again",
         file.string());
  }
  return trace;
}

// The summary, and where to look at the file; empty: there is none.
void print_for_people(const timeline::Trace& trace, bool has_details, const std::string& file) {
  const reports::Screen there = screen(has_details);
  fmt::print("{}", reports::to_terminal(tree_of(trace), there));
  if (file.empty()) return;
  fmt::print("{}", reports::to_lines("Next: open " + file +
                                         " with https://ui.perfetto.dev, which keeps it in the "
                                         "browser.",
                                     there.columns));
}

}  // namespace

int run_verify(const StepJobOptions& options) {
  return run_own(job_of(options, "verify"), options);
}

int record_trace(const TraceRecordOptions& options) {
  ObservedJob job = job_of(options.job, "trace record");
  job.steps = options.steps;
  job.out = fs::absolute(options.out.empty() ? new_folder("trace") : fs::path(options.out));
  const int status = run_own(job, options.job);
  if (status != 0 || options.job.dry_run) return status;
  const std::string file = own_report(job).string();
  return print_trace_summary({.file = file, .has_details = options.has_details});
}

int print_trace_summary(const TraceSummaryOptions& options) {
  const timeline::Trace trace = read_trace(options.file);
  if (options.as_json) {
    fmt::print("{}", timeline::to_json(timeline::summary_of(trace)));
    return 0;
  }
  print_for_people(trace, options.has_details, options.file);
  return 0;
}

int import_trace(const TraceImportOptions& options) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "trace.json";
  PythonScript script{.file = torch_script("kineto.py")};
  for (const std::string& source : options.files) {
    check_input(trace_file(source));
    script.words.push_back(source);
  }
  script.words.push_back(file.string());
  static_cast<void>(output_of_script(script));
  timeline::Trace trace = read_trace(file);
  timeline::match_collectives(trace);
  if (!options.out.empty()) results::replace_file(options.out, timeline::to_json(trace));
  print_for_people(trace, options.has_details, options.out);
  return 0;
}

}  // namespace tandem::cli
