// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/observe/observed_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <system_error>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/options/strategies.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/nvidia_device.h"
#include "tools/tandem/process/program_paths.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

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

// The run of step_bench that observes, with its options.
Words watch_words(const ObservedJob& job) {
  switch (job.watcher) {
    case Watcher::kVerifier:
      return {"verify"};
    case Watcher::kTrace:
      return {"trace", "--file=" + own_report(job).string(), fmt::format("--steps={}", job.steps)};
    case Watcher::kContention:
      return {"contention", "--file=" + own_report(job).string()};
  }
  return {};
}

// step_bench with the job's options and those that its watcher needs.
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

}  // namespace

ObservedJob job_of(const StepJobOptions& options, Watcher watcher, const std::string& verb) {
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
  job.watcher = watcher;
  return job;
}

fs::path own_report(const ObservedJob& job) {
  return job.out / (job.watcher == Watcher::kTrace ? "trace.json" : "contention.json");
}

int run_own(const ObservedJob& job, const StepJobOptions& options) {
  const Interrupts interrupts;
  const auto run = [&](const Words& command) {
    return run_relayed(command, launch_environment(), interrupts);
  };
  Words checking = step_bench_words(job);
  checking.emplace_back("--check");
  if (const int status = run(checking); status != 0) return status;
  if (options.dry_run) {
    Words typed = own_command(job);
    std::ranges::transform(typed, typed.begin(), shell_word);
    fmt::print("{}\n", fmt::join(typed, " "));
    return 0;
  }
  const bool has_report = !job.out.empty();
  if (has_report) make_folder(job);
  const int status = run(own_command(job));
  std::error_code not_empty;
  if (status != 0 && has_report) fs::remove(job.out, not_empty);
  return status;
}

}  // namespace tandem::cli
