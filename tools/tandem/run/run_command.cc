// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/run_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/results/journal.h"
#include "reports/answer/report.h"
#include "reports/model/document_change.h"
#include "reports/render/formats.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/report/compare_command.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/run/against.h"
#include "tools/tandem/run/link_measurement.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/run/resolving.h"
#include "tools/tandem/run/run_task.h"
#include "tools/tandem/run/sweep_runner.h"

namespace tandem::cli {
namespace {

// The first names of a list: all names would be too many for a screen, and --dry-run lists all.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 6;
  const std::size_t shown = std::min(kShown, names.size());
  const std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

void say_end(SweepEnd end, const RunOptions& options, const OutputFolder& folder,
             const std::vector<std::string>& left_out) {
  // Each start has a budget of its own.
  const std::string how = how_to_go_on(folder.folder(), !options.out.empty());
  switch (end) {
    case SweepEnd::kComplete:
      return;
    case SweepEnd::kBudgetSpent:
      fmt::print(stderr,
                 "the budget is spent: no further launch is started; {}. Left out, wholly or in "
                 "part, {}: {}\n",
                 how, count_text(std::ssize(left_out), "cell"), some_of(left_out));
      return;
    case SweepEnd::kInterrupted:
      fmt::print(stderr, "interrupted: what is done is kept; {}\n", how);
      return;
  }
}

// Throws a usage error where every cell would be skipped.
void check_fits(const SweepPlan& plan) {
  const bool fits = std::ranges::any_of(
      plan.cells, [&](const auto& cell) { return !why_too_large(plan.limit, cell); });
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

void write(const OutputFolder& folder, const reports::Report& report, SweepEnd end) {
  folder.write(report);
  folder.write_to_send(report.document);
  if (end == SweepEnd::kComplete) folder.mark_finished();
}

int exit_code(const reports::Report& report, SweepEnd end) {
  if (end == SweepEnd::kInterrupted) return interrupted_exit();
  const bool is_void =
      end == SweepEnd::kComplete && !any_with(results::Status::kOk, report.document.launches);
  return is_void || any_with(results::Status::kFailed, report.document.launches) ? 1 : 0;
}

int finish(const OutputFolder& folder, results::JournalContents journal, SweepEnd end) {
  const reports::Report report = reports::make_report(document_of(std::move(journal)));
  fmt::print("{}\n", reports::to_terminal(report));  // what was measured is told on a full disk too
  write(folder, report, end);
  fmt::print("{}\n", folder.page().string());
  return exit_code(report, end);
}

// The name of a folder as a user would give it.
std::string name_of(const OutputFolder& folder) {
  return std::filesystem::relative(folder.folder()).string();
}

// The report of the run as ever, and at the end what `tandem compare` says of it against the
// reference.
int finish(const OutputFolder& folder, results::JournalContents journal, ReferenceSide& reference,
           SweepEnd end) {
  const OutputFolder& other = reference.folder();
  const reports::Report before = reports::make_report(document_of(reference.take_contents()));
  const reports::Report after = reports::make_report(document_of(std::move(journal)));
  fmt::print("{}\n", reports::to_terminal(after));
  write(other, before, end);
  write(folder, after, end);
  fmt::print("{}\n\n", folder.page().string());
  const reports::DocumentChange changes = reports::compare_documents(
      before.document, before.summary, after.document, after.summary, {});
  const ComparisonText text =
      comparison_text({name_of(other), before.document, before.summary},
                      {name_of(folder), after.document, after.summary}, changes);
  folder.write_against(text.text);
  fmt::print("{}", text.text);
  if (end == SweepEnd::kInterrupted) return interrupted_exit();
  if (text.is_bad) return kVerdictExit;
  return std::max(exit_code(before, end), exit_code(after, end));
}

// The most devices of a cell that fits; larger cells are skipped.
int most_devices(const SweepPlan& plan) {
  int most = 1;
  for (const results::Cell& cell : plan.cells) {
    results::Cell together = cell;
    together.launch = "threads";
    if (!why_too_large(plan.limit, together)) most = std::max(most, cell.devices);
  }
  return most;
}

// Measures the links once per folder; a failed measurement is repeated, since the user may have
// mended the cause.
void note_links(results::Journal& journal, int devices, const RunTask& task,
                const LaunchSettings& settings, const OutputFolder& folder,
                const Interrupts& interrupts) {
  const auto& known = journal.contents().sweep.links;
  if (known && known->reason.empty()) return;
  const auto links = measure_links({.copy_bench = settings.step_bench.parent_path() / "copy_bench",
                                    .logs = folder.logs(),
                                    .site = task.site,
                                    .backend = task.backend,
                                    .devices = devices,
                                    .oversubscribe = settings.oversubscribe},
                                   interrupts);
  if (links) journal.note_links(*links);
}

// Goes on with what the folder holds. Throws a usage error where that is of something else.
void take_up(results::Journal& journal, const OutputFolder& folder, const RunTask& task,
             const results::SweepInfo& asked) {
  const results::SweepInfo& found = journal.contents().sweep;
  const bool grows = check_taken_up(found, asked, task, folder.journal());
  if (task.reference) check_reference_taken_up(*task.reference, folder, found);
  if (!grows) return;
  fmt::print(stderr,
             "the folder grows from {} launches per cell to {}; where a verdict was looked at "
             "before, its intervals do not know of the second look (--resolve counts looks)\n",
             found.launches_per_cell, asked.launches_per_cell);
  journal.grow(asked.definition, asked.launches_per_cell);
}

int measure(const RunOptions& options) {
  const TimePoint start = Clock::now();
  RunTask task = task_of(options);
  if (const auto budget = budget_of(options, task.sweep)) task.plan.stop_at = start + *budget;
  check_fits(task.plan);
  const std::chrono::seconds timeout = checked_launch_timeout(options.launch_timeout);
  const LaunchSettings settings = settings_of(task, options);
  const int devices = most_devices(task.plan);
  const std::filesystem::path asked = out_of(options);
  const OutputPaths out(asked);
  check_apart(out, {options.sweep}, task.sweep.model_files);
  out.check_holds_no_other();
  if (task.reference) check_no_lonely_reference(out);
  const OutputFolder folder(asked);
  const results::SweepInfo info = sweep_info(task, options);
  for (const std::string& line : task.sweep.left_out) fmt::print(stderr, "{}\n", line);

  const Interrupts interrupts;
  results::Journal journal(folder.journal(), info);
  take_up(journal, folder, task, info);
  folder.mark_unfinished();
  const auto find_links = [&] { note_links(journal, devices, task, settings, folder, interrupts); };
  const bool has_links = !options.no_links && !is_pretended(options);
  if (has_links && !task.site.is_elsewhere()) find_links();
  const Launcher launcher(settings, folder.logs(), timeout, interrupts);
  std::vector<RunSide> sides{{.launcher = launcher, .journal = journal}};
  std::vector<const OutputFolder*> folders{&folder};
  std::optional<ReferenceSide> reference;
  if (task.reference) {
    reference.emplace(*task.reference, folder, journal.contents().sweep, settings, timeout,
                      interrupts);
    sides.push_back(reference->side());
    folders.insert(folders.begin(), &reference->folder());
  }
  std::vector<std::string> left_out;
  const SweepEnd end = run_or_withdraw(folders, [&] {
    if (task.resolving_ratio) {
      ResolveEnd reached = resolve(task.plan, *task.resolving_ratio, sides, interrupts);
      left_out = std::move(reached.left_out);
      return reached.end;
    }
    SweepRunner runner(task.plan, sides, interrupts);
    const SweepEnd reached = runner.run();
    left_out = runner.left_out();
    return reached;
  });
  // Links of other machines are measured last, since only a launch tells whether those machines can
  // be reached.
  if (has_links && task.site.is_elsewhere() && end == SweepEnd::kComplete) find_links();
  say_end(end, options, folder, left_out);
  if (!reference) return finish(folder, journal.take_contents(), end);
  reference->take_links(journal.contents().sweep);
  return finish(folder, journal.take_contents(), *reference, end);
}

}  // namespace

int run_sweep(const RunOptions& options) {
  check_not_a_rank("run");
  check_run_options(options);
  return options.dry_run ? dry_run(options) : measure(options);
}

}  // namespace tandem::cli
