// SPDX-License-Identifier: Apache-2.0
//
// One job of step_bench that a verb starts to look at it: to verify its numbers, to trace it, to
// time it beside its collectives. A user names the job by step_bench's own options.
#pragma once

#include <filesystem>
#include <string>
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
  kVerifier,    // step_bench verify
  kTrace,       // step_bench trace
  kContention,  // step_bench contention
};

struct ObservedJob {
  results::Cell cell;  // only strategy, launch, devices and backend ("host" or "cuda") count
  LaunchSite site{};
  std::filesystem::path step_bench;
  std::vector<std::string> options{};  // further options of step_bench, as given
  bool oversubscribe = false;
  Watcher watcher = Watcher::kVerifier;
  int steps = 10;               // captured steps of each rank, after the warm-up
  std::filesystem::path out{};  // folder of the reports; empty: none
};

// The job of a verb. Throws a usage error where the site is impossible, or where the options hold
// one that the verb sets; `verb` is named in it.
[[nodiscard]] ObservedJob job_of(const StepJobOptions& options, Watcher watcher,
                                 const std::string& verb);

// The file that step_bench writes where the watcher is a trace or contention.
[[nodiscard]] std::filesystem::path own_report(const ObservedJob& job);

// Runs step_bench under the site's launcher, in an environment that changes no measurement, or
// prints its command line where the options ask for a dry run; the options are checked before a
// rank starts, so that an error is the only output. Returns step_bench's exit status. Throws a
// usage error where the job's folder cannot be made, or holds an earlier report, which would pass
// for this job's.
[[nodiscard]] int run_own(const ObservedJob& job, const StepJobOptions& options);

}  // namespace tandem::cli
