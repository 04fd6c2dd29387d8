// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain/explain_command.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/error.h"
#include "common/results/files.h"
#include "common/results/journal.h"
#include "reports/answer/report.h"
#include "reports/model/explanation.h"
#include "reports/model/notes.h"
#include "reports/render/explanation_sections.h"
#include "tools/tandem/explain/explain_definition.h"
#include "tools/tandem/explain/explain_task.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/run/progress.h"
#include "tools/tandem/run/sweep_runner.h"

namespace tandem::cli {
namespace {

using results::LaunchRecord;
using results::Status;

results::SweepInfo own_sweep(const ExplainTask& task, const ExplainOptions& options) {
  return {.name = "explain",
          .definition = definition_of(task.question, task.launches, task.settings),
          .planned_cells = static_cast<int>(task.cells.size()),
          .launches_per_cell = task.launches,
          .additions = {},
          .context = measuring_context("explain"),
          .commands = {options.command}};
}

void check_room(const ExplainTask& task, const DeviceLimit& limit) {
  for (const results::Cell& cell : task.cells) {
    if (const auto reason = why_too_large(limit, cell)) {
      fail(ErrorKind::kUsage, "--devices: {}", *reason);
    }
  }
}

// All rungs of a ladder must run at one site: rungs of several sites would be compared as if their
// machines were one.
void check_one_site(const ExplainTask& task, const LaunchSite& site) {
  const auto name = [](const std::string& text) { return text.empty() ? "this machine" : text; };
  if (text_of(site) == task.settings.site) return;
  fail(ErrorKind::kUsage,
       "reading {}: it was measured on {}, and launches would now run on {}; repeat its "
       "--launcher, --hosts or --hostfile, or explain without FILE",
       task.source.folder.string(), name(task.settings.site), name(text_of(site)));
}

// A usage error leaves the folder of FILE as it was.
SweepEnd run_and_plan(SweepRunner& runner, const ExplainTask& task, results::Journal& journal,
                      const OutputFolder& folder, bool was_unfinished) {
  if (!task.source.is_given) return run_or_withdraw(runner, folder);
  const std::size_t before = journal.contents().sweep.additions.size();
  const std::vector<results::Addition> after = with_missing_rungs(task, journal.contents().sweep);
  if (after.size() > before) journal.plan(after);
  try {
    return runner.run();
  } catch (const Error& error) {
    const bool is_refused = error.kind() == ErrorKind::kUsage;
    if (is_refused) journal.put_back();
    if (is_refused && !was_unfinished) folder.mark_finished();
    throw;
  }
}

// Throws a usage error where writing the results would overwrite an input.
void check_out(const ExplainTask& task, const SiteOptions& site) {
  const OutputPaths names(task.source.folder);
  std::vector<std::filesystem::path> inputs = files_of(task.model_files);
  if (!site.hostfile.empty()) inputs.emplace_back(site.hostfile);
  names.check_apart("--out", inputs);
  if (!task.source.is_given) names.check_holds_no_other();
}

struct Explained {
  SweepEnd end;
  results::Document document;
};

Explained measure(const ExplainTask& task, const ExplainOptions& options) {
  if (!task.source.has_journal) {
    fail(ErrorKind::kUsage,
         "reading {}: {} launches are missing and there is no journal.jsonl to measure them into; "
         "give the --out of a tandem run",
         task.source.folder.string(), launches_missing(task));
  }
  const DeviceLimit limit{.site = checked_site(options.site),
                          .cores = core_limit(task.settings.backend, task.settings.oversubscribe),
                          .oversubscribe = task.settings.oversubscribe};
  check_one_site(task, limit.site);
  check_room(task, limit);
  const std::chrono::seconds timeout = checked_launch_timeout(options.launch_timeout);
  LaunchSettings settings{.step_bench = find_step_bench(options.step_bench),
                          .min_time = task.settings.min_time,
                          .min_samples = task.settings.min_samples,
                          .oversubscribe = task.settings.oversubscribe,
                          .site = limit.site,
                          .comm_timeout = checked_comm_timeout(options.comm_timeout),
                          .model_files = task.model_files};
  settings.torch = task.torch;
  const results::SweepInfo asked = own_sweep(task, options);
  if (task.source.is_given) {
    check_same_machine(task.source.document->sweep, asked.context, task.source.folder);
  }
  const OutputFolder folder(task.source.folder);
  const Interrupts interrupts;
  results::Journal journal(folder.journal(), asked);
  if (!task.source.is_given) check_same_sweep(journal.contents().sweep, asked, folder.journal());
  const bool was_unfinished = folder.is_unfinished();
  folder.mark_unfinished();
  const Launcher launcher(settings, folder.logs(), timeout, interrupts);
  SweepRunner runner(
      {.cells = task.cells,
       .launches = task.launches,
       .limit = limit,
       .stop_at = std::nullopt,
       .expected = expected_times(task.cells, task.settings.backend, launcher, interrupts)},
      launcher, journal, interrupts);
  const SweepEnd end = run_and_plan(runner, task, journal, folder, was_unfinished);
  results::JournalContents contents = journal.take_contents();
  return {end, {.sweep = std::move(contents.sweep), .launches = std::move(contents.launches)}};
}

int exit_code(const ExplainTask& task, const results::Document& document, SweepEnd end) {
  if (end == SweepEnd::kInterrupted) return kInterruptedExit;
  std::vector<LaunchRecord> own;
  for (const LaunchRecord& record : document.launches) {
    if (is_rung(record, task)) own.push_back(record);
  }
  return any_with(Status::kFailed, own) || !any_with(Status::kOk, own) ? 1 : 0;
}

int finish(const ExplainTask& task, const Explained& explained) {
  const OutputFolder folder(task.source.folder);
  const auto& [end, document] = explained;
  const reports::Explanation explanation = reports::explain(document, task.question, task.launches);
  const reports::Report report = reports::make_report(document);
  if (task.source.has_journal) folder.write(report);
  if (reports::launches_missing(document.sweep, report.summary) == 0) folder.mark_finished();
  results::replace_file(folder.explanation(), reports::to_markdown(explanation));
  fmt::print("{}\n{}\n", reports::to_text(explanation), folder.explanation().string());
  if (end == SweepEnd::kInterrupted) {
    fmt::print(stderr, "interrupted: what is done is kept; run the same command again to go on\n");
  }
  return exit_code(task, document, end);
}

}  // namespace

int explain_gap(const ExplainOptions& options) {
  check_not_a_rank("explain");
  ExplainTask task = task_of(options);
  check_out(task, options.site);
  if (launches_missing(task) > 0) return finish(task, measure(task, options));
  return finish(task, {SweepEnd::kComplete, std::move(*task.source.document)});
}

}  // namespace tandem::cli
