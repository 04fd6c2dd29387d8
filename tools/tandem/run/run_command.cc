// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/run_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "common/base/error.h"
#include "common/base/lines.h"
#include "common/base/text.h"
#include "common/results/journal.h"
#include "reports/answer/report.h"
#include "reports/model/subject.h"
#include "reports/render/formats.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/run/resolving.h"
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
  const std::string cells = left_out.empty() ? "nothing" : some_of(left_out);
  const auto say = [](const std::string& text) {
    fmt::print(stderr, "{}\n", to_lines(text, columns_of(STDERR_FILENO)));
  };
  switch (end) {
    case SweepEnd::kComplete:
      return;
    case SweepEnd::kInterrupted:
      return fmt::print(stderr, "interrupted: what is done is kept; {}\n", how);
    case SweepEnd::kBudgetSpent:
      return say(fmt::format(
          "the budget is spent: no further launch is started; {}. Left out, wholly or in part, {}: "
          "{}",
          how, count_text(std::ssize(left_out), "cell"), cells));
    case SweepEnd::kLostRank:
      return say(fmt::format("a rank is lost: no further launch can be made; {}. Left out: {}", how,
                             cells));
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

// The command that says why, where the journal's launches are Tandem's.
std::string explaining(const OutputFolder& folder, const reports::Report& report) {
  const reports::VerdictText& verdict = report.verdict;
  if (verdict.lead_model.empty() || !reports::sole_implementation(report.summary).empty())
    return "";
  return fmt::format("Why, cause by cause: tandem explain {} --model={} --batch={}",
                     shell_word(std::filesystem::relative(folder.folder()).string()),
                     verdict.lead_model, verdict.lead_batch);
}

int finish(const OutputFolder& folder, results::JournalContents journal, SweepEnd end,
           bool has_details) {
  const reports::Report report = reports::make_report(document_of(std::move(journal)));
  // What was measured is printed on a full disk, too.
  reports::Screen there = reports::screen(has_details);
  const std::string why = explaining(folder, report);
  const std::string last = why.empty() ? "" : to_lines(why, there.columns);
  there.lines -= static_cast<std::size_t>(std::ranges::count(last, '\n'));
  fmt::print("{}{}", reports::to_terminal(report, there), last);
  write(folder, report, end);
  fmt::print("{}\n", folder.page().string());
  return exit_code(report, end);
}

// Goes on with what the folder holds. Throws a usage error where that is of something else.
void take_up(results::Journal& journal, const OutputFolder& folder, const RunTask& task,
             const results::SweepInfo& asked) {
  const results::SweepInfo& found = journal.contents().sweep;
  const bool grows = check_taken_up(found, asked, task, folder.journal());
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
  const std::filesystem::path asked = out_of(options);
  const OutputPaths out(asked);
  check_apart(out, {options.sweep}, task.sweep.model_files);
  out.check_holds_no_other();
  const OutputFolder folder(asked);
  const results::SweepInfo info = sweep_info(task, options);
  for (const std::string& line : task.sweep.left_out) fmt::print(stderr, "{}\n", line);

  const Interrupts interrupts;
  results::Journal journal(folder.journal(), info);
  take_up(journal, folder, task, info);
  folder.mark_unfinished();
  const Launcher launcher(settings, folder.logs(), timeout, interrupts);
  std::vector<std::string> left_out;
  const SweepEnd end = run_or_withdraw(folder, [&] {
    if (task.resolving_ratio) {
      ResolveEnd reached = resolve(task.plan, *task.resolving_ratio, launcher, journal, interrupts);
      left_out = std::move(reached.left_out);
      return reached.end;
    }
    SweepRunner runner(task.plan, launcher, journal, interrupts);
    const SweepEnd reached = runner.run();
    left_out = runner.left_out();
    return reached;
  });
  say_end(end, options, folder, left_out);
  return finish(folder, journal.take_contents(), end, options.has_details);
}

}  // namespace

int run_sweep(const RunOptions& options) {
  check_not_a_rank("run");
  check_run_options(options);
  return options.dry_run ? dry_run(options) : measure(options);
}

}  // namespace tandem::cli
