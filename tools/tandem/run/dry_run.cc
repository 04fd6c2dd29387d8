// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/dry_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "common/base/text.h"
#include "common/results/journal.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/source_document.h"
#include "tools/tandem/run/cell_groups.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/run/option_check.h"
#include "tools/tandem/run/progress.h"
#include "tools/tandem/run/run_task.h"

namespace tandem::cli {
namespace {

// The cells that a run would measure.
struct DryRun {
  std::vector<results::Cell> cells;
  std::vector<int> launches;  // launches still to run, by cell
  LaunchTimes times;
  std::vector<results::DroppedCells> dropped;
  std::vector<std::string> left_out;  // axes that some strategy lacks, a line each
};

std::string line(const DryRun& run, std::size_t cell) {
  const int launches = run.launches[cell];
  return fmt::format("  {}: {}, {}\n", run.cells[cell].name(), count_text(launches, "launch"),
                     short_time(launches * run.times.of(cell)));
}

std::string head(const DryRun& run) {
  const int launches = std::accumulate(run.launches.begin(), run.launches.end(), 0);
  return fmt::format("{}, {} to go, about {} (a guess by the models' sizes; launches correct it)\n",
                     count_text(std::ssize(run.cells), "cell"), count_text(launches, "launch"),
                     short_time(run.times.total(run.launches)));
}

std::string not_measured(const DryRun& run) {
  std::string text;
  for (const results::DroppedCells& dropped : run.dropped) {
    text += fmt::format("not measured: {}: {}\n", count_text(std::ssize(dropped.cells), "cell"),
                        dropped.reason);
    for (const std::string& name : dropped.cells) text += fmt::format("  {}\n", name);
  }
  for (const std::string& axis : run.left_out) text += axis + "\n";
  return text;
}

// The cells with the time that each needs, then the cells that are not measured, with the reason.
std::string to_text(const DryRun& run) {
  std::string text = head(run);
  for (std::size_t cell = 0; cell < run.cells.size(); ++cell) text += line(run, cell);
  return text + not_measured(run);
}

// The text of a run with a budget: the cells that the budget takes first, and the cells that the
// budget leaves out.
std::string to_text(const DryRun& run, Seconds budget) {
  std::vector<bool> is_taken(run.cells.size(), false);
  std::string taken;
  for (const CellGroup& group :
       within(budget, most_informative_first(run.cells), run.launches, run.times)) {
    for (const std::size_t cell : group) {
      is_taken[cell] = true;
      taken += line(run, cell);
    }
  }
  std::string rest;
  for (std::size_t cell = 0; cell < run.cells.size(); ++cell) {
    if (!is_taken[cell] && run.launches[cell] > 0) rest += line(run, cell);
  }
  return fmt::format("{}within {}, the most informative first:\n{}left out:\n{}{}", head(run),
                     short_time(budget), taken, rest.empty() ? "  nothing\n" : rest,
                     not_measured(run));
}

// Reads the missing launches and their times from a journal of this sweep in --out.
void take_over(DryRun& run, const RunTask& task, const RunOptions& options) {
  if (options.out.empty()) return;
  const auto journal =
      as_input([&] { return results::read_journal(OutputPaths(options.out).journal()); });
  if (!journal) return;
  check_same_sweep(journal->sweep, sweep_info(task, options), options.out);
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < run.cells.size(); ++i) places[run.cells[i].name()] = i;
  for (const results::LaunchRecord& record : journal->launches) {
    const auto place = places.find(record.cell.name());
    if (place == places.end() || record.status == results::Status::kFailed) continue;
    int& launches = run.launches[place->second];
    if (record.status == results::Status::kOk) {
      run.times.add(place->second, time_of(record));
      launches = std::max(0, launches - 1);
    } else {
      launches = 0;
    }
  }
}

}  // namespace

int dry_run(const RunOptions& options) {
  const RunTask task = task_of(options);
  const Interrupts interrupts;
  const TemporaryFolder logs;
  const Launcher launcher(settings_of(task, options), logs.path(),
                          checked_launch_timeout(options.launch_timeout), interrupts);
  check_options(task.plan.cells, launcher, interrupts);
  const std::size_t cells = task.plan.cells.size();
  DryRun run{.cells = task.plan.cells,
             .launches = std::vector<int>(cells, task.plan.launches),
             .times = LaunchTimes(expected_times(task.plan.cells, launcher, interrupts)),
             .dropped = by_reason(task.planned.dropped),
             .left_out = task.sweep.left_out};
  for (std::size_t i = 0; i < cells; ++i) {
    const auto reason = why_too_large(task.plan.limit, run.cells[i]);
    if (!reason) continue;
    run.launches[i] = 0;
    run.left_out.push_back(fmt::format("skipped: {}: {}", run.cells[i].name(), *reason));
  }
  if (!task.site.is_elsewhere() && !run.cells.empty()) {
    const std::string refusal = launcher.refusal_of(run.cells.front(), Check::kBackend);
    if (!refusal.empty()) run.left_out.push_back("this machine would refuse it: " + refusal);
  }
  take_over(run, task, options);
  const std::optional<Nanoseconds> budget = budget_of(options, task.sweep);
  fmt::print("{}", budget ? to_text(run, *budget) : to_text(run));
  return 0;
}

}  // namespace tandem::cli
