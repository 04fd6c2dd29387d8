// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "common/base/text.h"
#include "common/results/journal.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/source_document.h"
#include "tools/tandem/run/cell_groups.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/run/progress.h"
#include "tools/tandem/run/resolving.h"
#include "tools/tandem/run/run_command.h"

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

std::string line(const DryRun& run, std::size_t cell, int launches) {
  return fmt::format("  {}: {}, {}\n", run.cells[cell].name(), count_text(launches, "launch"),
                     short_time(launches * run.times.of(cell)));
}

std::string head(const DryRun& run) {
  const int launches = std::accumulate(run.launches.begin(), run.launches.end(), 0);
  return fmt::format("{}, {} to go, about {} (a guess by the models' sizes; launches correct it)\n",
                     count_text(std::ssize(run.cells), "cell"), count_text(launches, "launch"),
                     short_time(run.times.total(run.launches)));
}

// The launches that --resolve may add; empty without it.
std::string resolve_text(const RunTask& task, const std::optional<Nanoseconds>& budget) {
  if (!task.resolving_ratio) return "";
  return fmt::format(
      "--resolve goes on where neither dp nor ddp is faster beyond doubt, up to {} times as many "
      "launches of "
      "theirs{}\n",
      kMostRoundsOfFirst,
      budget ? fmt::format(", as far as the budget of {} goes", short_time(*budget)) : "");
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
  std::string text;
  for (std::size_t cell = 0; cell < run.cells.size(); ++cell)
    text += line(run, cell, run.launches[cell]);
  return text + not_measured(run);
}

// The text of a run with a budget: the cells that the budget takes first, and the cells that the
// budget leaves out.
std::string to_text_within(Nanoseconds budget, const DryRun& run) {
  std::string text = fmt::format("within {}, the most informative first:\n", short_time(budget));
  std::vector<bool> is_taken(run.cells.size(), false);
  for (const CellGroup& group :
       within(budget, most_informative_first(run.cells), run.launches, run.times)) {
    for (const std::size_t cell : group) {
      is_taken[cell] = true;
      text += line(run, cell, run.launches[cell]);
    }
  }
  std::string rest;
  for (std::size_t cell = 0; cell < run.cells.size(); ++cell) {
    if (!is_taken[cell] && run.launches[cell] > 0) rest += line(run, cell, run.launches[cell]);
  }
  return text + "left out:\n" + (rest.empty() ? "  nothing\n" : rest) + not_measured(run);
}

// Reads the missing launches and their times from a journal of this sweep in --out.
void take_over(DryRun& run, const RunTask& task, const RunOptions& options) {
  if (options.out.empty()) return;
  const OutputPaths out(options.out);
  const auto journal = as_input([&] { return results::read_journal(out.journal()); });
  if (!journal) return;
  static_cast<void>(check_taken_up(journal->sweep, sweep_info(task, options), task, out.journal()));
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < run.cells.size(); ++i) places[run.cells[i].name()] = i;
  for (const results::LaunchRecord& record : journal->launches) {
    const auto place = places.find(record.cell.name());
    if (place == places.end() || record.status == results::Status::kFailed) continue;
    const bool is_measured = record.status == results::Status::kOk;
    if (is_measured) run.times.add(place->second, time_of(record));
    int& launches = run.launches[place->second];
    launches = is_measured ? std::max(0, launches - 1) : 0;
  }
}

// Throws the usage errors of the cells' options, and notes what this machine lacks for them.
void check_cells(DryRun& run, const RunTask& task, const Launcher& launcher,
                 const Interrupts& interrupts) {
  check_options(run.cells, launcher, interrupts);
  if (task.site.is_elsewhere() || run.cells.empty()) return;
  const std::string refusal = launcher.refusal_of(run.cells.front(), Check::kBackend);
  if (!refusal.empty()) run.left_out.push_back("this machine would refuse it: " + refusal);
}

}  // namespace

int dry_run(const RunOptions& options) {
  const RunTask task = task_of(options);
  const Interrupts interrupts;
  const TemporaryFolder logs;
  const Launcher launcher(settings_of(task, options), logs.path(),
                          checked_launch_timeout(options.launch_timeout), interrupts);
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
  check_cells(run, task, launcher, interrupts);
  take_over(run, task, options);
  const std::optional<Nanoseconds> budget = budget_of(options, task.sweep);
  // A resolving run gives a budget to comparisons first, as long as they are open.
  const bool is_listed = budget && !task.resolving_ratio;
  fmt::print("{}{}{}", head(run), resolve_text(task, budget),
             is_listed ? to_text_within(*budget, run) : to_text(run));
  return 0;
}

}  // namespace tandem::cli
