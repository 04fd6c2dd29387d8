// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/results/journal.h"
#include "reports/model/document_change.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/source_document.h"
#include "tools/tandem/run/against.h"
#include "tools/tandem/run/cell_groups.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/run/option_check.h"
#include "tools/tandem/run/progress.h"
#include "tools/tandem/run/resolving.h"
#include "tools/tandem/run/run_command.h"
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
  int sides = 1;                      // 2 with a reference, whose launches count, too
  // With --resolve the most launches still to run, by cell; else empty.
  std::vector<int> most{};
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

// What --resolve may add; empty without it.
std::string most_text(const DryRun& run, const std::optional<Nanoseconds>& budget) {
  if (run.most.empty()) return "";
  const int launches = std::accumulate(run.most.begin(), run.most.end(), 0);
  return fmt::format(
      "--resolve goes on where dp and ddp are not told apart, up to {} times as many launches: {} "
      "to go at most, about {}{}\n",
      kMostRoundsOfFirst, count_text(launches, "launch"), short_time(run.times.total(run.most)),
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
std::string to_text(const DryRun& run, const std::optional<Nanoseconds>& budget) {
  std::string text = head(run) + most_text(run, budget);
  for (std::size_t cell = 0; cell < run.cells.size(); ++cell)
    text += line(run, cell, run.launches[cell]);
  return text + not_measured(run);
}

// The text of a run with a budget: the cells that the budget takes first, and the cells that the
// budget leaves out.
std::string to_text_within(Nanoseconds budget, const DryRun& run) {
  std::string text =
      fmt::format("{}within {}, the most informative first:\n", head(run), short_time(budget));
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

// Sets the most launches of --resolve, whose last look a journal may have fixed.
void take_looks(DryRun& run, const RunTask& task, const results::SweepInfo* begun) {
  if (!task.resolving_ratio) return;
  const int last = begun != nullptr && begun->resolving ? begun->resolving->last_round
                                                        : kMostRoundsOfFirst * task.plan.launches;
  const std::set<std::string> compared = pairs_in(run.cells).cells;
  run.most = run.launches;
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    if (run.launches[i] > 0 && compared.contains(run.cells[i].name())) run.most[i] = last;
  }
}

// Reads the missing launches and their times from a journal of this sweep in --out.
void take_over(DryRun& run, const RunTask& task, const RunOptions& options) {
  std::optional<results::JournalContents> journal;
  if (!options.out.empty()) {
    journal = as_input([&] { return results::read_journal(OutputPaths(options.out).journal()); });
  }
  take_looks(run, task, journal ? &journal->sweep : nullptr);
  if (!journal) return;
  const OutputPaths out(options.out);
  static_cast<void>(check_taken_up(journal->sweep, sweep_info(task, options), task, out.journal()));
  if (task.reference) {
    static_cast<void>(check_reference_taken_up(*task.reference, out, journal->sweep));
  }
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < run.cells.size(); ++i) places[run.cells[i].name()] = i;
  for (const results::LaunchRecord& record : journal->launches) {
    const auto place = places.find(record.cell.name());
    if (place == places.end() || record.status == results::Status::kFailed) continue;
    const bool is_measured = record.status == results::Status::kOk;
    if (is_measured) run.times.add(place->second, time_of(record));
    for (std::vector<int>* counts : {&run.launches, &run.most}) {
      if (counts->empty()) continue;
      int& launches = (*counts)[place->second];
      launches = is_measured ? std::max(0, launches - run.sides) : 0;
    }
  }
}

// Throws the usage errors of a side's options. What this machine lacks for it is told.
void check_side(DryRun& run, const RunTask& task, const std::vector<results::Cell>& cells,
                const Launcher& launcher, const Interrupts& interrupts, std::string_view whose) {
  check_options(cells, launcher, interrupts, whose);
  if (task.site.is_elsewhere() || cells.empty()) return;
  const std::string refusal = launcher.refusal_of(cells.front(), Check::kBackend);
  if (refusal.empty()) return;
  run.left_out.push_back(fmt::format("this machine would refuse {}: {}",
                                     whose == "the sweep" ? "it" : whose, refusal));
}

void check_reference(DryRun& run, const RunTask& task, const LaunchSettings& own,
                     const Launcher& launcher, const std::filesystem::path& logs,
                     std::chrono::seconds timeout, const Interrupts& interrupts) {
  if (!task.reference) return;
  const Launcher other(settings_of_reference(*task.reference, own), logs, timeout, interrupts);
  std::vector<results::Cell> cells;
  for (const results::Cell& cell : run.cells) {
    cells.push_back(with_options(cell, task.reference->facts.options));
  }
  check_side(run, task, cells, other, interrupts, "the reference");
  check_same_work(cells, launcher, other, interrupts);
  run.left_out.push_back("half of the launches are those of the reference: " +
                         reports::reference_text(task.reference->facts));
}

}  // namespace

int dry_run(const RunOptions& options) {
  const RunTask task = task_of(options);
  const Interrupts interrupts;
  const TemporaryFolder logs;
  const LaunchSettings settings = settings_of(task, options);
  const std::chrono::seconds timeout = checked_launch_timeout(options.launch_timeout);
  const Launcher launcher(settings, logs.path(), timeout, interrupts);
  const std::size_t cells = task.plan.cells.size();
  const int sides = task.reference ? 2 : 1;
  DryRun run{.cells = task.plan.cells,
             .launches = std::vector<int>(cells, task.plan.launches * sides),
             .times = LaunchTimes(expected_times(task.plan.cells, launcher, interrupts)),
             .dropped = by_reason(task.planned.dropped),
             .left_out = task.sweep.left_out,
             .sides = sides,
             .most = {}};
  for (std::size_t i = 0; i < cells; ++i) {
    const auto reason = why_too_large(task.plan.limit, run.cells[i]);
    if (!reason) continue;
    run.launches[i] = 0;
    run.left_out.push_back(fmt::format("skipped: {}: {}", run.cells[i].name(), *reason));
  }
  check_side(run, task, run.cells, launcher, interrupts, "the sweep");
  check_reference(run, task, settings, launcher, logs.path(), timeout, interrupts);
  take_over(run, task, options);
  const std::optional<Nanoseconds> budget = budget_of(options, task.sweep);
  // A resolving run gives a budget to comparisons first, as long as they are open.
  const bool is_listed = budget && !task.resolving_ratio;
  fmt::print("{}", is_listed ? to_text_within(*budget, run) : to_text(run, budget));
  return 0;
}

}  // namespace tandem::cli
