// SPDX-License-Identifier: Apache-2.0
// The command line: reads options, hands them on, and turns errors into one line and an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "tools/tandem/doctor/doctor_command.h"
#include "tools/tandem/explain/explain_command.h"
#include "tools/tandem/lessons_command.h"
#include "tools/tandem/profile/profile_command.h"
#include "tools/tandem/report/compare_command.h"
#include "tools/tandem/report/report_command.h"
#include "tools/tandem/run/run_command.h"

namespace tandem::cli {
namespace {

constexpr int kFailureExit = 1;
constexpr int kUsageExit = 2;

void add_site(CLI::App& command, SiteOptions& site) {
  command.add_option("--launcher", site.launcher, "mpirun, or within a Slurm allocation srun")
      ->capture_default_str();
  command.add_option("--hosts", site.hosts,
                     "Nodes to launch on and how many processes each takes, as node1:2,node2:2; "
                     "programs and --out must be at the same path on all");
  command.add_option("--hostfile", site.hostfile, "The same as a host file of Open MPI");
}

void add_measuring(CLI::App& command, MeasuringOptions& options, const std::string& of_torch) {
  command.add_flag("--with-torch{python3}", options.torch,
                   of_torch + ", by the python3 in PATH or --with-torch=PYTHON");
  command.add_flag("--oversubscribe", options.oversubscribe,
                   "Allow more devices than cores; results carry the mark");
  add_site(command, options.site);
  command
      .add_option("--launch-timeout", options.launch_timeout, "Give up on a launch after this time")
      ->capture_default_str();
  command.add_option("--comm-timeout", options.comm_timeout,
                     "Ranks give up on one that is late by this time, such as 10s; default: 60s");
  command.add_option(
      "--step-bench", options.step_bench,
      "Program that measures a launch, for tests; default: step_bench beside tandem");
}

CLI::App* add_run(CLI::App& app, RunOptions& options) {
  CLI::App* run = app.add_subcommand("run",
                                     "Measure a sweep, then report on it; run it again with "
                                     "the same --out to resume.");
  run->add_option("SWEEP", options.sweep,
                  "Name of a sweep, such as quick, or path of a .json file");
  run->add_option("--out", options.out, "Folder for journal, results, report and logs");
  run->add_flag("--list", options.list, "Name the sweeps there are, and end");
  run->add_flag("--dry-run", options.dry_run,
                "List the cells with a time estimate, what is not measured and why, and end");
  run->add_option("--devices", options.devices,
                  "What \"all\" devices in a sweep means; default: cores or GPUs found here")
      ->check(CLI::Range(1, 100000));
  run->add_option("--launches", options.launches, "Launches per cell instead of the sweep's")
      ->check(CLI::Range(1, 1000));
  run->add_option("--budget", options.budget,
                  "Take the most informative cells that fit into this time, such as 30m, and start "
                  "no launch after it");
  run->add_option("--backend", options.backend, "auto, host or cuda")->capture_default_str();
  run->add_flag("--no-links", options.no_links,
                "Do not find out, once per --out and in seconds, how fast copies between "
                "devices are");
  add_measuring(*run, options,
                "PyTorch's own single, independent, ddp and, between GPUs, dp beside ours");
  return run;
}

void add_rule(CLI::App& app, RuleOptions& options, const std::string& when) {
  const auto note = [&options](const std::string&) { options.is_given = true; };
  app.add_option("--threshold", options.threshold, when + "a change below it does not matter")
      ->each(note)
      ->capture_default_str();
  app.add_option("--between-runs", options.between_runs,
                 when +
                     "the standard deviation between runs as a whole on this machine, which "
                     "widens every interval; METHODOLOGY.md says how to measure it")
      ->each(note)
      ->capture_default_str();
}

CLI::App* add_report(CLI::App& app, ReportOptions& options) {
  CLI::App* report = app.add_subcommand(
      "report",
      "Write results.json, report.html, report.md and *.csv from finished launches; of several "
      "sources report.html and report.md that have them side by side.");
  report->add_option("SOURCE", options.sources, "Folders of tandem run, journals or results.json")
      ->required();
  report
      ->add_option("--figures", options.figures,
                   "Files that copy_bench and others wrote with --benchmark_out, to be listed too")
      ->allow_extra_args(false);
  report->add_option("--out", options.out,
                     "Folder for the report; default: that of the source, of several out/report-N");
  report->add_flag("--merge", options.merge,
                   "Several sources are parts of one run: their launches are taken together");
  add_rule(*report, options.rule, "Of several sources: ");
  return report;
}

CLI::App* add_compare(CLI::App& app, CompareOptions& options) {
  CLI::App* compare = app.add_subcommand("compare",
                                         "Which cells became faster or slower from A to B. Ends "
                                         "with 0, with 1 where a cell is SLOWER, "
                                         "with 2 where the two cannot be compared; with 1 and a "
                                         "line of error, too, where the answer cannot be written.");
  compare->add_option("A", options.before, "Folder of tandem run, journal or results.json: before")
      ->required();
  compare->add_option("B", options.after, "The same: after")->required();
  add_rule(*compare, options.rule, "");
  compare->add_option("--json", options.json, "File to write all of it to as JSON");
  return compare;
}

CLI::App* add_explain(CLI::App& app, ExplainOptions& options) {
  CLI::App* explain = app.add_subcommand(
      "explain",
      "Explain the gap between dp and ddp, cause by cause; measures what is missing first.");
  explain->add_option("FILE", options.source,
                      "Folder of tandem run or explain: its launches are used, missing ones added");
  explain->add_option("--out", options.out,
                      "Without FILE: folder for the launches; run again to resume; default: a new "
                      "one, out/explain-N");
  reports::GapQuestion& question = options.question;
  explain->add_option("--model", question.model, "As step_bench takes it")->required();
  explain->add_option("--batch", question.batch, "Samples per step over all devices")->required();
  explain->add_option("--devices", question.devices, "Devices, 2 or more")->capture_default_str();
  explain->add_option("--launches", options.launches, "Launches per rung")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  explain->add_option("--input", question.input, "Where a batch starts: host, pageable or device")
      ->capture_default_str();
  explain->add_option("--precision", question.precision, "fp32, tf32 or bf16, on all rungs")
      ->capture_default_str();
  explain->add_option("--link", question.link, "All rungs on a modelled link, such as 20us:1GBps");
  explain->add_option(
      "--dispatch-cost", question.dispatch_cost,
      "Beside it a modelled chart: an interpreter's cost per call, such as 8us; auto: "
      "that of torch here, measured");
  explain->add_flag("--interpreter-lock", question.interpreter_lock,
                    "In that chart also the lock that threads share");
  explain->add_option("--plant", question.plant,
                      "A delay, such as replicate:2ms, planted on device 0 of every rung that has "
                      "the phase, once per step, to see it found");
  explain->add_option("--backend", options.backend,
                      "auto, host or cuda; default: as FILE was measured, else auto");
  explain->add_option("--min-time", options.min_time,
                      "Measure a launch at least this long; default: as FILE was, else 500ms");
  add_measuring(*explain, options, "Two steps more, from PyTorch's own ddp to ours");
  return explain;
}

CLI::App* add_lessons(CLI::App& app, LessonsOptions& options) {
  CLI::App* lessons = app.add_subcommand(
      "lessons", "Claims that circulate about DataParallel, run and judged, with the evidence.");
  lessons->add_option("NAME", options.names, "Lessons to run; default: all");
  lessons->add_flag("--list", options.list, "Name them and do nothing");
  lessons->add_option("--lessons", options.program,
                      "Program that runs them, for tests; default: lessons beside tandem");
  return lessons;
}

CLI::App* add_doctor(CLI::App& app, DoctorOptions& options) {
  CLI::App* doctor = app.add_subcommand(
      "doctor",
      "What is on this node, what is wrong with it for measuring, and what to do. Takes seconds; "
      "exit status 1 where something is a problem.");
  doctor->add_flag("--json", options.json, "The findings as JSON");
  doctor->add_option("--programs", options.programs,
                     "Folder of the bench programs, for tests; default: that of tandem");
  doctor->add_option("--root", options.root, "What facts are read below, for tests")
      ->capture_default_str();
  return doctor;
}

CLI::App* add_profile(CLI::App& app, ProfileOptions& options) {
  CLI::App* profile = app.add_subcommand(
      "profile",
      "Run step_bench under Nsight Systems (nsys) or Nsight Compute (ncu), a report per rank of "
      "some steady steps; or without a profiler (timeline), a trace of all ranks for Perfetto and "
      "what it says in words, which summary TRACE says again (--json: for programs); picture TRACE "
      "draws a step of it as "
      "SVG (--step=NUMBER); contention says how much slower phases run while gradients are "
      "communicated. Options that "
      "are not named here are step_bench's.");
  profile->allow_extras();
  profile->add_option("TOOL", options.tool, "nsys, ncu, timeline, contention, summary or picture")
      ->required();
  profile->add_option("--strategy", options.strategy, "As step_bench takes it")
      ->capture_default_str();
  profile->add_option("--launch", options.launch, "As step_bench takes it");
  profile->add_option("--devices", options.devices, "Devices")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  profile->add_option("--backend", options.backend, "auto, host or cuda")->capture_default_str();
  profile->add_option("--steps", options.steps, "Steps to capture, behind the warm-up")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  profile->add_flag("--osrt", options.osrt, "nsys: calls of the operating system as well");
  profile->add_option("--phase", options.phases, "ncu: only kernels of this phase, such as forward")
      ->allow_extra_args(false);
  profile->add_option("--out", options.out, "Folder for the reports; default: out/profile-N");
  profile->add_flag("--dry-run", options.dry_run, "Print the command line, and end");
  profile->add_flag("--oversubscribe", options.oversubscribe,
                    "Allow more devices than cores or GPUs");
  add_site(*profile, options.site);
  profile->add_option("--step-bench", options.step_bench,
                      "Program that is profiled, for tests; default: step_bench beside tandem");
  return profile;
}

// CLI11's own codes run from 100; all of them become the usage error of this program.
int parse_failure(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  const auto parsed = app.get_subcommands();
  const std::string command = parsed.empty() ? "tandem" : "tandem " + parsed.front()->get_name();
  fmt::print(stderr, "{0}: {1}; see {0} --help\n", command, error.what());
  return kUsageExit;
}

// Names an unknown command before CLI11 runs, which would only say that some command is required.
std::string unknown_command(const CLI::App& app, int count, char** arguments) {
  if (count < 2 || arguments[1][0] == '-') return "";
  std::string known;
  for (const CLI::App* const command : app.get_subcommands({})) {
    if (command->get_name() == arguments[1]) return "";
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  return fmt::format("there is no command '{}': use {}", arguments[1], known);
}

// The command line that a document keeps for a repetition, without --out, which the user chooses
// anew.
std::vector<std::string> command_without_out(int count, char** arguments) {
  std::vector<std::string> words;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--out") ++i;
    if (word != "--out" && word.rfind("--out=", 0) != 0) words.push_back(word);
  }
  return words;
}

int run(int count, char** arguments) {
  CLI::App app("DataParallel against DistributedDataParallel, measured on this machine.", "tandem");
  app.set_version_flag("--version", "tandem " TANDEM_VERSION);
  app.require_subcommand(1);
  RunOptions run_options;
  LessonsOptions lessons_options;
  ReportOptions report_options;
  ExplainOptions explain_options;
  CompareOptions compare_options;
  DoctorOptions doctor_options;
  ProfileOptions profile_options;
  int status = 0;
  add_run(app, run_options)->callback([&] { status = run_sweep(run_options); });
  add_lessons(app, lessons_options)->callback([&] { status = run_lessons(lessons_options); });
  add_report(app, report_options)->callback([&] { status = write_report(report_options); });
  add_doctor(app, doctor_options)->callback([&] { status = run_doctor(doctor_options); });
  add_explain(app, explain_options)->callback([&] { status = explain_gap(explain_options); });
  add_compare(app, compare_options)->callback([&] { status = compare_runs(compare_options); });
  CLI::App* const profile = add_profile(app, profile_options);
  profile->callback([&] {
    for (const CLI::Option* const option : profile->get_options()) {
      if (option->count() == 0 || option->get_positional()) continue;
      profile_options.given.push_back(option->get_name());
    }
    profile_options.rest = profile->remaining();
    status = run_profile(profile_options);
  });
  if (const std::string wrong = unknown_command(app, count, arguments); !wrong.empty()) {
    fmt::print(stderr, "tandem: {}\n", wrong);
    return kUsageExit;
  }
  run_options.command = explain_options.command = command_without_out(count, arguments);
  try {
    app.parse(count, arguments);
    return status;
  } catch (const CLI::ParseError& error) {
    return parse_failure(app, error);
  } catch (const Error& error) {
    fmt::print(stderr, "tandem: {}\n", error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    if (std::ferror(stdout) == 0) fmt::print(stderr, "tandem: {}\n", error.what());
    return kFailureExit;
  }
}

// A full disk may show only when stdout is flushed, at the end.
int with_output_written(int code) {
  const int flushed = std::fflush(stdout);
  const std::string reason = flushed == 0 ? "it failed" : std::strerror(errno);
  if (flushed == 0 && std::ferror(stdout) == 0) return code;
  fmt::print(stderr, "tandem: writing to standard output: {}; lead it elsewhere\n", reason);
  return kFailureExit;
}

}  // namespace
}  // namespace tandem::cli

int main(int count, char** arguments) {
  return tandem::cli::with_output_written(tandem::cli::run(count, arguments));
}
