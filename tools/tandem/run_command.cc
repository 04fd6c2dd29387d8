// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/base/error.h"
#include "common/results/journal.h"
#include "reports/report.h"
#include "tools/tandem/budget.h"
#include "tools/tandem/measuring.h"
#include "tools/tandem/output_folder.h"
#include "tools/tandem/program_paths.h"
#include "tools/tandem/sweep.h"
#include "tools/tandem/sweep_runner.h"

namespace tandem::cli {
namespace {

results::SweepInfo sweep_info(const Sweep& sweep, const RunOptions& options,
                              const std::string& site, std::size_t cells) {
  results::SweepInfo info;
  info.name = sweep.name;
  info.definition = definition_of(
      sweep, {.backend = options.backend, .oversubscribe = options.oversubscribe, .site = site});
  info.planned_cells = static_cast<int>(cells);
  info.launches_per_cell = sweep.launches;
  info.context = measuring_context(sweep.name);
  return info;
}

void say_end(SweepEnd end, const RunOptions& options) {
  switch (end) {
    case SweepEnd::kComplete:
      return;
    case SweepEnd::kBudgetSpent:
      fmt::print(stderr,
                 "the budget of {} is spent: no further launch is started; run the same "
                 "command again to go on\n",
                 options.budget);
      return;
    case SweepEnd::kInterrupted:
      fmt::print(stderr,
                 "interrupted: what is done is kept; run the same command again to go on\n");
      return;
  }
}

// A sweep of which every cell would be skipped.
void check_fits(const SweepRunner::Plan& plan) {
  const bool fits = std::any_of(plan.cells.begin(), plan.cells.end(),
                                [&](const auto& cell) { return !why_too_large(plan.limit, cell); });
  if (fits) return;
  if (plan.limit.site.is_elsewhere()) {
    fail(ErrorKind::kUsage, "every cell of the sweep is too large, the first one for {}",
         *why_too_large(plan.limit, plan.cells.front()));
  }
  fail(ErrorKind::kUsage,
       "every cell of the sweep has more devices than there are cores to run on ({}): nothing to "
       "measure; --oversubscribe measures all the same",
       plan.limit.cores);
}

int finish(const OutputFolder& folder, SweepEnd end) {
  auto journal = results::read_journal(folder.journal());
  if (!journal) fail(ErrorKind::kFailure, "reading {}: it is gone", folder.journal().string());
  const reports::Report report = reports::make_report(
      {.sweep = std::move(journal->sweep), .launches = std::move(journal->launches)});
  folder.write(report);
  if (end == SweepEnd::kComplete) folder.mark_finished();
  fmt::print("{}\n{}\n", reports::to_terminal(report), folder.page().string());
  if (end == SweepEnd::kInterrupted) return kInterruptedExit;
  const bool is_void =
      end == SweepEnd::kComplete && !any_with(results::Status::kOk, report.document.launches);
  return is_void || any_with(results::Status::kFailed, report.document.launches) ? 1 : 0;
}

}  // namespace

int run_sweep(const RunOptions& options) {
  check_not_a_rank("run");
  const TimePoint start = Clock::now();
  Sweep sweep = load_sweep(options.sweep, sweep_folders());
  if (options.launches > 0) sweep.launches = options.launches;
  const LaunchSite site = checked_site(options.site);
  SweepRunner::Plan plan{.cells = cells_of(sweep, checked_backend(options.backend)),
                         .launches = sweep.launches,
                         .limit = {.site = site,
                                   .cores = core_limit(options.backend, options.oversubscribe),
                                   .oversubscribe = options.oversubscribe},
                         .stop_at = std::nullopt};
  if (!options.budget.empty()) {
    const Seconds budget = parse_long_duration(options.budget, "--budget");
    plan.stop_at = start + std::chrono::duration_cast<Nanoseconds>(budget);
  }
  check_fits(plan);
  const std::chrono::seconds timeout = checked_launch_timeout(options.launch_timeout);
  const LaunchSettings settings{.step_bench = find_step_bench(options.step_bench),
                                .min_time = sweep.min_time,
                                .min_samples = sweep.min_samples,
                                .oversubscribe = options.oversubscribe,
                                .site = site,
                                .comm_timeout = checked_comm_timeout(options.comm_timeout)};
  const OutputFolder folder(options.out);
  const results::SweepInfo info = sweep_info(sweep, options, text_of(site), plan.cells.size());

  const Interrupts interrupts;
  results::Journal journal(folder.journal(), info);
  check_same_sweep(journal.found().sweep, info, folder.journal());
  folder.mark_unfinished();
  const Launcher launcher(settings, folder.logs(), timeout, interrupts);
  const SweepEnd end =
      run_or_withdraw(SweepRunner(std::move(plan), launcher, journal, interrupts), folder);
  say_end(end, options);
  return finish(folder, end);
}

}  // namespace tandem::cli
