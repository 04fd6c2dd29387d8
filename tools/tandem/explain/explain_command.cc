// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain/explain_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/base/checksummed_file.h"
#include "common/base/dispatch_costs.h"
#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/units.h"
#include "common/options/values.h"
#include "common/results/document.h"
#include "common/results/files.h"
#include "common/results/journal.h"
#include "reports/answer/report.h"
#include "reports/model/explanation.h"
#include "reports/model/ladder.h"
#include "reports/model/notes.h"
#include "reports/render/formats.h"
#include "tools/tandem/explain/explain_definition.h"
#include "tools/tandem/explain/module_workload.h"
#include "tools/tandem/explain/projected_ladder.h"
#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/run/progress.h"
#include "tools/tandem/run/sweep_runner.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {
namespace {

using results::LaunchRecord;
using results::Status;

// The decisions that are settled before any measurement.
struct ExplainTask {
  reports::GapQuestion question;
  int launches = 0;
  MeasuringSettings settings{};
  ExplainSource source;
  std::set<std::string> planned{};  // cells of the journal's own sweep
  std::vector<results::Cell> cells{};
  std::optional<TorchTwin> torch{};
  ModelFiles model_files;  // the files of the question's model
  std::optional<ModuleWorkload> module{};
};

bool is_rung(const LaunchRecord& record, const ExplainTask& task) {
  return std::ranges::any_of(
      task.cells, [&](const results::Cell& cell) { return cell.name() == record.cell.name(); });
}

void check_question(const reports::GapQuestion& question) {
  if (question.batch < 1) {
    fail(ErrorKind::kUsage, "--batch: {} holds no sample; use 1 or more", question.batch);
  }
  if (question.devices < 2) {
    fail(ErrorKind::kUsage,
         "--devices: on {} there is nothing to exchange, so no gap to explain; use 2 or more",
         question.devices == 1 ? "1 device" : "no device");
  }
  const std::int64_t left = question.batch % question.devices;
  if (left != 0) {
    const std::int64_t less = question.batch - left;
    fail(ErrorKind::kUsage,
         "--batch: {} devices do not divide {} samples evenly, which ddp refuses; use {}{}",
         question.devices, question.batch, less > 0 ? fmt::format("{} or ", less) : "",
         less + question.devices);
  }
}

void check_models(const reports::GapQuestion& question) {
  const std::vector<std::string_view> inputs = options::choices_of("input", "dp");
  if (std::ranges::find(inputs, question.input) == inputs.end()) {
    fail_unknown("--input", question.input, inputs);
  }
  options::check_form("precision", question.precision);
  if (!question.dispatch_cost.empty()) {
    (void)parse_dispatch_costs(question.dispatch_cost, "--dispatch-cost");
  }
  if (question.interpreter_lock && question.dispatch_cost.empty()) {
    fail(ErrorKind::kUsage,
         "--interpreter-lock: without a --dispatch-cost nothing holds the lock; give one, such as "
         "--dispatch-cost=8us");
  }
}

// Throws a usage error where --module meets what torch's own side or the export cannot have.
void check_module(const ExplainOptions& options) {
  const reports::GapQuestion& question = options.question;
  if (!question.plant.empty()) {
    fail(ErrorKind::kUsage,
         "--plant={}: PyTorch's own side of --module has none, so the ends would differ by it; "
         "leave it out, or explain a --model",
         question.plant);
  }
}

void check_subject(const ExplainOptions& options) {
  if (!options.module.empty() && !options.source.empty()) {
    fail(ErrorKind::kUsage,
         "explain: FOLDER and --module are both given; a module's launches go into a folder "
         "of their own with its export: give --out, which the same command resumes");
  }
  if (options.question.model.empty() && options.module.empty()) {
    fail(ErrorKind::kUsage,
         "--model is missing: what is trained, such as mlp-base; or give --module, such as "
         "--module=own.py:build");
  }
  if (!options.question.model.empty() && !options.module.empty()) {
    fail(ErrorKind::kUsage,
         "--model={} and --module={} are both given; give the one that is to be explained",
         options.question.model, options.module);
  }
}

// Launches of another length would be taken together with those that lie there.
void check_same_min_time(const ExplainOptions& options, const MeasuringSettings& before,
                         const std::filesystem::path& folder) {
  if (options.min_time.empty() || options.min_time == before.min_time) return;
  fail(ErrorKind::kUsage,
       "--min-time={}: launches in {} were measured with {}; leave it out, or explain without "
       "FOLDER",
       options.min_time, folder.string(), before.min_time);
}

MeasuringSettings settings_of(const ExplainOptions& options, MeasuringSettings settings) {
  if (!options.backend.empty()) settings.backend = checked_backend(options.backend);
  if (!options.min_time.empty()) settings.min_time = options.min_time;
  if (options.oversubscribe) settings.oversubscribe = true;
  (void)parse_duration(settings.min_time, "--min-time");
  return settings;
}

// The python that --with-torch names; for a module torch is needed.
std::optional<TorchTwin> torch_of(const ExplainOptions& options, const std::string& backend) {
  if (!options.module.empty()) {
    return needed_torch_twin(options.torch.empty() ? "python3" : options.torch,
                             checked_site(options.site), backend);
  }
  if (options.torch.empty() || options.torch == kNoTorch) return std::nullopt;
  return find_torch_twin(options.torch, checked_site(options.site), backend);
}

// The training of the two sides: the user's module, and its export.
void add_module(ExplainTask& task, const ExplainOptions& options) {
  task.module = workload_of_module({.source = options.module,
                                    .share = task.question.batch / task.question.devices,
                                    .backend = task.settings.backend,
                                    .folder = task.source.folder,
                                    .is_resumed = task.source.document.has_value(),
                                    .patience = checked_launch_timeout(options.launch_timeout)},
                                   *task.torch);
  const bool is_fresh = !task.module->fresh.empty();
  const std::string made =
      with_checksum((is_fresh ? task.module->fresh : task.module->file).string(), "--module");
  task.question.model = name_in_results(made);
  task.question.module = task.module->facts.name;
  task.question.optimizer = task.module->facts.optimizer;
  task.question.finds_unused = !task.module->facts.unused.empty();
  task.model_files = {
      {task.question.model, (task.module->file.parent_path() / task.question.model).string()}};
}

void add_torch(ExplainTask& task, const ExplainOptions& options) {
  task.torch = torch_of(options, task.settings.backend);
  if (task.torch) {
    task.question.implementation = task.torch->name;
    task.question.implementation_has_dp = !is_on_host(task.settings.backend);
  }
  if (!options.module.empty()) add_module(task, options);
}

// Throws a usage error where the rungs' back ends differ: rungs on a CPU and on GPUs make no
// ladder.
void check_one_backend(const ExplainTask& task) {
  if (!task.source.document) return;
  std::string seen = task.settings.backend == "auto" ? "" : task.settings.backend;
  for (const LaunchRecord& record : task.source.document->launches) {
    if (record.status != Status::kOk || !is_rung(record, task)) continue;
    if (seen.empty()) seen = record.cell.backend;
    if (record.cell.backend == seen) continue;
    fail(ErrorKind::kUsage,
         "reading {}: {} was measured on the back end {}, not on {}; explain each in a folder of "
         "its own",
         task.source.folder.string(), record.cell.name(), record.cell.backend, seen);
  }
}

DeviceLimit limit_of(const ExplainTask& task, const ExplainOptions& options) {
  return {.site = checked_site(options.site),
          .cores = core_limit(task.settings.backend, task.settings.oversubscribe),
          .oversubscribe = task.settings.oversubscribe};
}

std::vector<results::Cell> cells_of(const reports::GapQuestion& question) {
  std::vector<results::Cell> cells;
  for (const reports::RungCell& rung : reports::ladder_cells(question)) cells.push_back(rung.cell);
  return cells;
}

void check_room(const std::vector<results::Cell>& cells, const DeviceLimit& limit) {
  for (const results::Cell& cell : cells) {
    if (const auto reason = why_too_large(limit, cell)) {
      fail(ErrorKind::kUsage, "--devices: {}", *reason);
    }
  }
}

// Torch's side takes minutes, and changes nothing about the devices' room and the folder.
void check_before_torch(const ExplainTask& task, const ExplainOptions& options) {
  if (!task.source.document) check_room(cells_of(task.question), limit_of(task, options));
  if (!task.source.is_given) OutputPaths(task.source.folder).check_holds_no_other();
}

// Reads the options and the source. Throws usage errors about options, about FOLDER, and about
// rungs that were measured on another back end.
ExplainTask task_of(const ExplainOptions& options) {
  check_subject(options);
  check_question(options.question);
  check_models(options.question);
  const std::string model = with_checksum(options.question.model, "--model");
  ExplainTask task{.question = options.question,
                   .launches = options.launches,
                   .source = find_source(options.source, options.out),
                   .model_files = {{name_in_results(model), model}}};
  task.question.model = name_in_results(model);
  PlannedBefore before;
  if (task.source.is_given) {
    before = planned_by(task.source.document->sweep.definition, task.source.folder.string());
    check_same_min_time(options, before.settings, task.source.folder);
  }
  task.planned = std::move(before.cells);
  task.settings = settings_of(options, before.settings);
  if (!task.source.is_given) task.settings.site = text_of(checked_site(options.site));
  task.question.backend = task.settings.backend;
  if (!options.module.empty()) check_module(options);
  check_before_torch(task, options);
  add_torch(task, options);
  task.cells = cells_of(task.question);
  check_one_backend(task);
  return task;
}

// The number of the rungs' launches that are still to be measured.
int launches_missing(const ExplainTask& task) {
  int missing = 0;
  for (const results::Cell& cell : task.cells) {
    std::set<int> done;
    bool skipped = false;
    if (task.source.document) {
      for (const LaunchRecord& record : task.source.document->launches) {
        if (record.cell.name() != cell.name()) continue;
        skipped = skipped || record.status == Status::kSkipped;
        const bool counts = record.status == Status::kOk && record.launch_index < task.launches;
        if (counts) done.insert(record.launch_index);
      }
    }
    if (!skipped) missing += task.launches - static_cast<int>(done.size());
  }
  return missing;
}

// The additions of the sweep, extended by the rungs that neither the sweep nor its additions plan
// with enough launches.
std::vector<results::Addition> with_missing_rungs(const ExplainTask& task,
                                                  const results::SweepInfo& sweep) {
  results::Addition addition{.cells = {}, .launches_per_cell = task.launches};
  for (const results::Cell& cell : task.cells) {
    const std::string name = cell.name();
    const auto plans_it = [&](const results::Addition& other) {
      return other.launches_per_cell >= task.launches &&
             std::ranges::find(other.cells, name) != other.cells.end();
    };
    const bool is_planned =
        task.planned.contains(name) || std::ranges::any_of(sweep.additions, plans_it);
    if (!is_planned) addition.cells.push_back(name);
  }
  std::vector<results::Addition> additions = sweep.additions;
  if (!addition.cells.empty()) additions.push_back(std::move(addition));
  return additions;
}

results::SweepInfo own_sweep(const ExplainTask& task, const ExplainOptions& options) {
  return {.name = "explain",
          .definition = definition_of(task.question, task.launches, task.settings),
          .planned_cells = static_cast<int>(task.cells.size()),
          .launches_per_cell = task.launches,
          .context = measuring_context("explain", find_step_bench(options.step_bench)),
          .commands = {options.command}};
}

// All rungs of a ladder must run at one site: rungs of several sites would be compared as if their
// machines were one.
void check_one_site(const ExplainTask& task, const LaunchSite& site) {
  const auto name = [](const std::string& text) { return text.empty() ? "this machine" : text; };
  if (text_of(site) == task.settings.site) return;
  fail(ErrorKind::kUsage,
       "reading {}: it was measured on {}, and launches would now run on {}; repeat its "
       "--launcher or --hosts, or explain without FOLDER",
       task.source.folder.string(), name(task.settings.site), name(text_of(site)));
}

// A usage error leaves FOLDER as it was.
SweepEnd run_and_plan(SweepRunner& runner, const ExplainTask& task, results::Journal& journal,
                      const OutputFolder& folder, bool was_unfinished) {
  if (!task.source.is_given) return run_or_withdraw(folder, [&] { return runner.run(); });
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
  const DeviceLimit limit = limit_of(task, options);
  check_one_site(task, limit.site);
  check_room(task.cells, limit);
  const std::chrono::seconds timeout = checked_launch_timeout(options.launch_timeout);
  LaunchSettings settings{.step_bench = find_step_bench(options.step_bench),
                          .min_time = task.settings.min_time,
                          .min_samples = task.settings.min_samples,
                          .oversubscribe = task.settings.oversubscribe,
                          .site = limit.site,
                          .comm_timeout = checked_comm_timeout(options.comm_timeout),
                          .model_files = task.model_files};
  settings.torch = task.torch;
  if (task.module) settings.modules = {{task.module->facts.name, task.module->source}};
  const results::SweepInfo asked = own_sweep(task, options);
  if (task.source.is_given) {
    check_same_machine(task.source.document->sweep, asked.context, task.source.folder);
    check_same_programs(task.source.document->sweep, asked.context, task.source.folder);
  }
  OutputFolder folder(task.source.folder);
  const Interrupts interrupts;
  results::Journal journal(folder.journal(), asked);
  if (!task.source.is_given) check_same_sweep(journal.contents().sweep, asked, folder.journal());
  const bool was_unfinished = folder.is_unfinished();
  folder.mark_unfinished();
  if (task.module && !task.module->fresh.empty()) folder.take(task.module->fresh);
  const Launcher launcher(settings, folder.logs(), timeout, interrupts);
  SweepRunner runner(
      {.cells = task.cells, .launches = task.launches, .limit = limit, .stop_at = std::nullopt},
      launcher, journal, interrupts);
  const SweepEnd end = run_and_plan(runner, task, journal, folder, was_unfinished);
  return {end, document_of(journal.take_contents())};
}

int exit_code(const ExplainTask& task, const results::Document& document, SweepEnd end) {
  if (end == SweepEnd::kInterrupted) return interrupted_exit();
  std::vector<LaunchRecord> own;
  for (const LaunchRecord& record : document.launches) {
    if (is_rung(record, task)) own.push_back(record);
  }
  return any_with(Status::kFailed, own) || !any_with(Status::kOk, own) ? 1 : 0;
}

int finish(const ExplainTask& task, const ExplainOptions& options, const Explained& explained) {
  const OutputFolder folder(task.source.folder);
  const auto& [end, document] = explained;
  const reports::Explanation explanation = reports::explain(document, task.question, task.launches);
  const reports::Report report = reports::make_report(document);
  if (task.source.has_journal) folder.write(report);
  if (reports::launches_missing(document.sweep, report.summary) == 0) folder.mark_finished();
  results::replace_file(folder.explanation(), reports::to_markdown(explanation));
  fmt::print("{}{}\n", reports::to_terminal(explanation, reports::screen(options.has_details)),
             folder.explanation().string());
  if (end == SweepEnd::kInterrupted) {
    const bool was_named = !options.source.empty() || !options.out.empty();
    fmt::print(stderr, "interrupted: what is done is kept; {}\n",
               how_to_go_on(task.source.folder, was_named));
  }
  return exit_code(task, document, end);
}

// A measurement has no place among simulated launches, nor have costs that these lack.
void check_suits_simulated(const ExplainOptions& options) {
  const char* const measures = "are simulated, so that nothing is measured there";
  const char* const models = "have the interpreter's costs that tandem project gave them, or none";
  for (const auto& [flag, is_given, why] :
       {std::tuple{"--with-torch", !options.torch.empty() && options.torch != kNoTorch, measures},
        {"--backend", !options.backend.empty(), measures},
        {"--dispatch-cost", !options.question.dispatch_cost.empty(), models},
        {"--interpreter-lock", options.question.interpreter_lock, models},
        {"--min-time", !options.min_time.empty(), measures},
        {"--oversubscribe", options.oversubscribe, measures}}) {
    if (!is_given) continue;
    fail(ErrorKind::kUsage, "{}: the launches in {} {}; leave it out", flag, options.source, why);
  }
}

// The ladder of a FOLDER whose launches are simulated; nothing of any other source, nor of a
// module, which has no FOLDER.
std::optional<ProjectedLadder> projected_ladder(const ExplainOptions& options) {
  if (options.source.empty() || !options.module.empty()) return std::nullopt;
  ProjectedLadder ladder{.question = options.question,
                         .source = find_source(options.source, options.out),
                         .step_bench = options.step_bench,
                         .command = options.command,
                         .has_details = options.has_details};
  if (!is_projected(ladder.source)) return std::nullopt;
  check_subject(options);
  check_question(options.question);
  check_suits_simulated(options);
  check_models(options.question);
  return ladder;
}

}  // namespace

int explain_gap(const ExplainOptions& options) {
  check_not_a_rank("explain");
  if (auto projected = projected_ladder(options)) return explain_projected(std::move(*projected));
  ExplainTask task = task_of(options);
  const OutputPaths out(task.source.folder);
  check_apart(out, {}, task.model_files);
  if (launches_missing(task) > 0) return finish(task, options, measure(task, options));
  return finish(task, options, {SweepEnd::kComplete, std::move(*task.source.document)});
}

}  // namespace tandem::cli
