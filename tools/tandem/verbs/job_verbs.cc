// SPDX-License-Identifier: Apache-2.0
//
// The verbs that step_bench itself answers about one job, and those that read the trace it leaves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/base/error.h"
#include "common/base/input_file.h"
#include "common/base/lines.h"
#include "common/base/text.h"
#include "common/command_line/parsing.h"
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
#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/launch/python_script.h"
#include "tools/tandem/observe/trace_tree.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/nvidia_device.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using command_line::whole_number;

constexpr int kMostSteps = 100'000;

constexpr std::string_view kStepOptions =
    "All other options are step_bench's, such as --model=mlp-base --batch=64: 'tandem list "
    "options'.";

// The options that these verbs share; all others are step_bench's.
struct StepJobOptions {
  std::string strategy = "ddp";
  std::string launch{};  // empty: step_bench's launch for the strategy
  int devices = 2;
  std::string backend = "auto";
  SiteOptions site{};
  bool oversubscribe = false;
  bool dry_run = false;             // print the command line, and end
  std::string step_bench{};         // path for tests; empty: step_bench beside tandem
  std::vector<std::string> rest{};  // step_bench's options, as given
};

struct TraceRecordOptions {
  StepJobOptions job{};
  int steps = 10;
  std::string out{};  // empty: a new folder out/trace-N
  bool has_details = false;
};

struct TraceSummaryOptions {
  std::string file{};
  bool as_json = false;  // for programs
  bool has_details = false;
};

struct TraceImportOptions {
  std::vector<std::string> files{};  // of the ranks of one run
  std::string out{};                 // a file; empty: the summary alone
  bool has_details = false;
};

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
  const reports::Screen there = reports::screen(has_details);
  fmt::print("{}", reports::to_terminal(tree_of(trace), there));
  if (file.empty()) return;
  fmt::print("{}", to_lines("Next: open " + file +
                                " with https://ui.perfetto.dev, which keeps it in the "
                                "browser.",
                            there.columns));
}

// Returns 0 where the numbers agree, kVerdictExit where they differ, 1 where that is not decided.
int run_verify(const StepJobOptions& options) {
  return run_own(job_of(options, "verify"), options);
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

int record_trace(const TraceRecordOptions& options) {
  ObservedJob job = job_of(options.job, "trace record");
  job.steps = options.steps;
  job.out = fs::absolute(options.out.empty() ? new_folder("trace") : fs::path(options.out));
  const int status = run_own(job, options.job);
  if (status != 0 || options.job.dry_run) return status;
  const std::string file = own_report(job).string();
  return print_trace_summary({.file = file, .has_details = options.has_details});
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

void add_job(CLI::App& command, StepJobOptions& job) {
  add_usual(command, "--strategy NAME", job.strategy, "as 'tandem list strategies' has them");
  add(command, "--launch NAME", job.launch,
      "threads or processes; default: as the strategy is run");
  add_devices(command, job.devices, "devices")->capture_default_str();
  add_backend(command, job.backend);
  add_oversubscribe(command, job.oversubscribe);
  add_site(command, job.site);
  command.add_flag("--dry-run", job.dry_run, "print the command line, and end");
  add_step_bench(command, job.step_bench);
}

void add_steps(CLI::App& command, int& steps) {
  add_usual(command, "--steps COUNT", steps, "steps to capture, behind the warm-up")
      ->check(whole_number(1, kMostSteps));
}

void add_verify(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<StepJobOptions>();
  CLI::App& verify = add_command(
      app, {.name = "verify",
            .what = "train some steps, and compare all numbers with one device's\n"
                    "Gradients of every step and weights, tensor by tensor; ranks must hold the "
                    "same bits. Nothing is timed.",
            .examples = "  tandem verify --strategy=ddp --devices=2 --batch=64\n"
                        "  tandem verify --strategy=dp --devices=2 --model=mlp-base --batch=64",
            .more = "All other options are step_bench's: 'tandem list options'.\n"
                    "Exit status: 0 the numbers agree, 3 they differ, 1 not decided, 2 "
                    "wrong usage."});
  add_job(verify, *options);
  verbs.push_back({&verify,
                   [options](const Call& call) {
                     options->rest = call.rest;
                     return run_verify(*options);
                   },
                   true});
}

void add_trace_record(CLI::App& trace, Verbs& verbs) {
  const auto options = std::make_shared<TraceRecordOptions>();
  CLI::App& record = add_command(
      trace, {.name = "record",
              .what = "record some steps of all ranks on one clock, and say what they show",
              .examples = "  tandem trace record --strategy=ddp --devices=2 --model=mlp-base "
                          "--batch=64\n"
                          "  tandem trace record --strategy=dp --devices=2 --batch=64 --steps=5 "
                          "--out=out/dp-trace",
              .more = kStepOptions});
  add_job(record, options->job);
  add_steps(record, options->steps);
  add(record, "--out FOLDER", options->out,
      "folder for what is found; default: a new one, out/trace-1");
  add_details(record, options->has_details);
  verbs.push_back({&record,
                   [options](const Call& call) {
                     options->job.rest = call.rest;
                     return record_trace(*options);
                   },
                   true});
}

void add_trace_summary(CLI::App& trace, Verbs& verbs) {
  const auto options = std::make_shared<TraceSummaryOptions>();
  CLI::App& summary = add_command(
      trace, {.name = "summary",
              .what = "say what a trace shows: exposed communication, overlap, skew, waits",
              .examples = "  tandem trace summary out/trace-1/trace.json\n"
                          "  tandem trace summary out/trace-1/trace.json --json"});
  summary.add_option("FILE", options->file, "a trace.json that 'tandem trace record' wrote")
      ->required();
  summary.add_flag("--json", options->as_json, "for programs");
  add_details(summary, options->has_details);
  verbs.push_back({&summary, [options](const Call&) { return print_trace_summary(*options); }});
}

void add_trace_import(CLI::App& trace, Verbs& verbs) {
  const auto read = std::make_shared<TraceImportOptions>();
  CLI::App& from = add_command(
      trace,
      {.name = "import",
       .what =
           "say what PyTorch's profiler recorded of DistributedDataParallel or DataParallel, as "
           "summary does",
       .examples = "  tandem trace import rank0.json rank1.json\n"
                   "  tandem trace import rank0.json rank1.json --out=out/torch-trace.json"});
  from.add_option("FILES", read->files,
                  "what export_chrome_trace wrote, one file of each rank of one run")
      ->required();
  add(from, "--out FILE", read->out, "write it as a trace.json, for summary and Perfetto");
  add_details(from, read->has_details);
  verbs.push_back({&from, [read](const Call&) { return import_trace(*read); }});
}

void add_trace(CLI::App& app, Verbs& verbs) {
  CLI::App& trace = add_command(
      app, {.name = "trace",
            .what = "a timeline of all ranks for Perfetto, without a profiler",
            .examples = "  tandem trace record --strategy=ddp --devices=2 --model=mlp-base "
                        "--batch=64\n"
                        "  tandem trace summary out/trace-1/trace.json"});
  trace.require_subcommand(0, 1);
  add_trace_record(trace, verbs);
  add_trace_summary(trace, verbs);
  add_trace_import(trace, verbs);
}

}  // namespace

void add_job_verbs(CLI::App& app, Verbs& verbs) {
  add_verify(app, verbs);
  add_trace(app, verbs);
}

}  // namespace tandem::cli
