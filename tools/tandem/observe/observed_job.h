// SPDX-License-Identifier: Apache-2.0
//
// One job of step_bench that a verb starts to look at it: to verify its numbers, to trace it, to
// profile it. A user names the job by step_bench's own options.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/process/interrupts.h"

namespace tandem::cli {

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

// What looks at the job.
enum class Watcher {
  kVerifier,    // step_bench with --verify
  kTrace,       // step_bench with --trace
  kContention,  // step_bench with --contention
  kProfiler,    // nsys or ncu, in each rank
};

struct ObservedJob {
  results::Cell cell;  // only strategy, launch, devices and backend ("host" or "cuda") count
  LaunchSite site{};
  std::filesystem::path step_bench;
  std::vector<std::string> options{};  // further options of step_bench, as given
  bool oversubscribe = false;
  Watcher watcher = Watcher::kProfiler;
  int steps = 10;               // captured steps of each rank, after the warm-up
  std::filesystem::path out{};  // folder of the reports; empty: none
};

// The job of a verb. Throws a usage error where the site is impossible, or where the options hold
// one that the verb sets; `verb` is named in it.
[[nodiscard]] ObservedJob job_of(const StepJobOptions& options, Watcher watcher,
                                 const std::string& verb);

[[nodiscard]] bool has_option(const ObservedJob& job, std::string_view name);

// step_bench with the job's options and those that `watcher` needs.
[[nodiscard]] std::vector<std::string> step_bench_words(const ObservedJob& job);

// step_bench, which only checks the job's options.
[[nodiscard]] std::vector<std::string> check_command(const ObservedJob& job);

// step_bench under the site's launcher, with its own observation on.
[[nodiscard]] std::vector<std::string> own_command(const ObservedJob& job);

// The file that own_command() writes where the watcher is a trace or contention.
[[nodiscard]] std::filesystem::path own_report(const ObservedJob& job);

// The command as a user would type it into a shell.
[[nodiscard]] std::string as_typed(const std::vector<std::string>& command);

// Runs a command in an environment that changes no measurement, and returns its exit status.
[[nodiscard]] int run_in_clean_environment(const std::vector<std::string>& command,
                                           const Interrupts& interrupts);

// Makes the job's folder. Throws a usage error where it cannot be made, or holds `earlier` files,
// which would pass for this job's.
void make_folder(const ObservedJob& job, const std::vector<std::filesystem::path>& earlier);

// Runs own_command(), or prints it where the options ask for a dry run; the options are checked
// before a rank starts, so that an error is the only output. Returns step_bench's exit status.
[[nodiscard]] int run_own(const ObservedJob& job, const StepJobOptions& options);

}  // namespace tandem::cli
