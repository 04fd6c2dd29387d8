// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/run_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/results/files.h"
#include "common/results/journal.h"
#include "reports/answer/report.h"
#include "reports/render/terminal.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/process/nvidia_device.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/source_document.h"
#include "tools/tandem/run/cell_groups.h"
#include "tools/tandem/run/link_measurement.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/run/option_check.h"
#include "tools/tandem/run/progress.h"
#include "tools/tandem/run/sweep_runner.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {
namespace {

// The task that the options and the sweep's file describe.
struct Task {
  Sweep sweep;
  LaunchSite site;
  std::string backend;
  PlannedCells planned;
  SweepPlan plan;
  std::optional<TorchTwin> torch;
  TorchCells torch_cells = TorchCells::kAll;
};

bool is_of_module(const RunOptions& options) { return !options.module.source.empty(); }

std::string sweep_of(const RunOptions& options) {
  if (!options.sweep.empty()) return options.sweep;
  return is_on_host(checked_backend(options.backend)) ? "quick" : "node";
}

// The folder that the user named, or a new one named after the sweep.
std::filesystem::path out_of(const RunOptions& options) {
  if (!options.out.empty()) return options.out;
  if (is_of_module(options)) return new_folder(short_name(options.module.source));
  return new_folder(std::filesystem::path(sweep_of(options)).stem().string());
}

// Throws a usage error where --module meets what does not go with it, or its options lack it.
void check_module_options(const RunOptions& options) {
  const ModuleOptions& module = options.module;
  if (!is_of_module(options)) {
    const bool has_any =
        !module.batch.empty() || !module.batch_per_device.empty() || !module.cells.empty();
    if (!has_any) return;
    fail(ErrorKind::kUsage,
         "--batch, --batch-per-device and --cell go with --module; a sweep's file has keys of its "
         "own for them");
  }
  if (!options.comm_timeout.empty()) {
    fail(
        ErrorKind::kUsage,
        "--comm-timeout is for Tandem's own ranks; with --module, torch's wait 60 s; leave it out");
  }
}

bool is_pretended(const RunOptions& options) { return options.pretended.gpus != 0; }

// Throws a usage error where --pretend meets what says the devices, too.
void check_pretend_options(const RunOptions& options) {
  if (!is_pretended(options)) return;
  if (options.devices != 0) {
    fail(ErrorKind::kUsage, "--pretend={} says how many devices there are; leave --devices out",
         options.pretended.gpus);
  }
  if (options.backend != "auto") {
    fail(ErrorKind::kUsage, "--pretend is a back end of its own; leave --backend={} out",
         options.backend);
  }
}

// The back end as cells have it, "auto" where launches find it.
std::string backend_of(const RunOptions& options) {
  if (!is_pretended(options)) return checked_backend(options.backend);
  return std::string(results::kPretended) + options.pretended.like;
}

// The sweep that the options name, with the names of models as cells have them.
Sweep asked_sweep(const RunOptions& options, int devices) {
  if (is_of_module(options) && options.sweep.empty()) return module_sweep(options.module, devices);
  Sweep sweep =
      load_sweep(sweep_of(options), sweep_folders(), {.all = devices, .most = options.devices});
  return is_of_module(options) ? with_module(std::move(sweep), options.module) : sweep;
}

// The folder below which the sweep's files of modules are.
std::filesystem::path folder_of_modules(const RunOptions& options) {
  if (is_of_module(options)) return {};
  return std::filesystem::path(sweep_of(options)).parent_path();
}

// Plans Tandem's cells, and those of torch beside them: all that torch has where it is asked for,
// and between GPUs what users run, dp and ddp, unless it is to be left out.
void plan_models(Task& task, const RunOptions& options) {
  const bool is_host = is_on_host(task.backend);
  task.planned = plan_cells(task.sweep, task.backend);
  drop_for_backend(task.planned, is_host);
  const bool is_asked = !options.torch.empty() || task.sweep.with_torch;
  if (options.torch == kNoTorch || (!is_asked && is_host)) return;
  const std::string python = options.torch.empty() ? "python3" : options.torch;
  task.torch = find_torch_twin(python, task.site, task.backend);
  if (!task.torch) return;
  if (!is_asked) task.torch_cells = TorchCells::kPairs;
  add_torch_cells(task.planned, task.torch->name, is_host, task.torch_cells);
}

// Plans torch's cells of users' modules, after a step of each module.
void plan_modules(Task& task, const RunOptions& options) {
  task.torch =
      needed_torch_twin(options.torch.empty() ? "python3" : options.torch, task.site, task.backend);
  if (is_pretended(options)) {
    PretendOptions pretend = options.pretended;
    pretend.python = task.torch->python;
    task.torch->environment = pretend_variables(pretend);
  }
  const Interrupts interrupts;
  // A plan for GPUs is made where there are none, too.
  const bool is_of_plan = options.dry_run && task.backend == "cuda" && !has_nvidia_device();
  const std::string backend = is_of_plan ? "host" : task.backend;
  const auto ask = [&](const std::string& source, std::int64_t share) {
    return facts_of_module(*task.torch, source,
                           {.batch = share,
                            .backend = backend,
                            .patience = checked_launch_timeout(options.launch_timeout)},
                           interrupts);
  };
  const std::vector<ModuleFacts> modules =
      name_modules(task.sweep, folder_of_modules(options), ask);
  task.planned = plan_cells(task.sweep, task.backend);
  make_torch_cells(task.planned, task.torch->name, is_on_host(task.backend), modules);
}

// Reads the sweep. A sweep of GPUs is planned for them where there are none, too; only its launches
// need them.
void read_sweep(Task& task, const RunOptions& options) {
  const int asked = is_pretended(options) ? options.pretended.gpus : options.devices;
  const auto read = [&] {
    task.sweep = asked_sweep(options, all_devices(asked, task.backend, task.site));
  };
  task.backend = backend_of(options);
  read();
  if (task.backend != "auto" || task.sweep.backend.empty()) return;
  task.backend = task.sweep.backend;
  read();
}

Task task_of(const RunOptions& options) {
  Task task;
  task.site = checked_site(options.site);
  read_sweep(task, options);
  if (options.launches > 0) task.sweep.launches = options.launches;
  if (is_pretended(options) && !task.sweep.is_of_modules) {
    fail(ErrorKind::kUsage,
         "--pretend runs PyTorch on pretended GPUs, and the sweep {} is of Tandem's strategies; "
         "give --module, or a sweep of modules",
         task.sweep.name);
  }
  if (task.sweep.is_of_modules) {
    plan_modules(task, options);
  } else {
    plan_models(task, options);
  }
  task.plan = {.cells = task.planned.cells,
               .launches = task.sweep.launches,
               .limit = {.site = task.site,
                         .cores = core_limit(task.backend, options.oversubscribe),
                         .oversubscribe = options.oversubscribe},
               .stop_at = std::nullopt,
               .model_series = task.sweep.model_series};
  return task;
}

// Dropped cells by reason, in the order in which the reasons came up.
std::vector<results::DroppedCells> by_reason(const std::vector<DroppedCell>& dropped) {
  std::vector<results::DroppedCells> groups;
  std::map<std::string, std::size_t> places;
  for (const DroppedCell& cell : dropped) {
    const auto [place, is_new] = places.try_emplace(cell.reason, groups.size());
    if (is_new) groups.push_back({.reason = cell.reason, .cells = {}});
    groups[place->second].cells.push_back(cell.cell.name());
  }
  return groups;
}

// The time that --budget gives, or the sweep where the option is absent; nothing: any. Throws a
// usage error where there is none to spend.
std::optional<Nanoseconds> budget_of(const RunOptions& options, const Sweep& sweep) {
  const bool is_asked = !options.budget.empty();
  const std::string& text = is_asked ? options.budget : sweep.budget;
  if (text.empty()) return std::nullopt;
  const Nanoseconds budget = parse_duration(text, "--budget");
  if (budget > Nanoseconds{0}) return budget;
  fail(ErrorKind::kUsage, "{}: {} is no time to end a launch in; give a time such as 30m",
       is_asked ? "--budget" : "the sweep's key 'budget'", text);
}

results::SweepInfo sweep_info(const Task& task, const RunOptions& options) {
  const Sweep& sweep = task.sweep;
  results::SweepInfo info;
  info.name = sweep.name;
  info.definition =
      definition_of(sweep, {.backend = task.backend,
                            .oversubscribe = options.oversubscribe,
                            .site = text_of(task.site),
                            .torch = task.torch ? task.torch->name : "",
                            .torch_has_pairs_alone = task.torch_cells == TorchCells::kPairs});
  info.planned_cells = static_cast<int>(task.plan.cells.size());
  info.launches_per_cell = sweep.launches;
  info.dropped = by_reason(task.planned.dropped);
  info.context = measuring_context(sweep.name);
  info.commands = {options.command};
  return info;
}

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

int finish(const OutputFolder& folder, results::JournalContents journal, SweepEnd end) {
  const reports::Report report = reports::make_report(
      {.sweep = std::move(journal.sweep), .launches = std::move(journal.launches)});
  fmt::print("{}\n", reports::to_terminal(report));  // what was measured is told on a full disk too
  folder.write(report);
  folder.write_to_send(report.document);
  if (end == SweepEnd::kComplete) folder.mark_finished();
  fmt::print("{}\n", folder.page().string());
  if (end == SweepEnd::kInterrupted) return interrupted_exit();
  const bool is_void =
      end == SweepEnd::kComplete && !any_with(results::Status::kOk, report.document.launches);
  return is_void || any_with(results::Status::kFailed, report.document.launches) ? 1 : 0;
}

LaunchSettings settings_of(const Task& task, const RunOptions& options) {
  LaunchSettings settings{.step_bench = find_step_bench(options.step_bench),
                          .min_time = task.sweep.min_time,
                          .min_samples = task.sweep.min_samples,
                          .oversubscribe = options.oversubscribe,
                          .site = task.site,
                          .comm_timeout = checked_comm_timeout(options.comm_timeout),
                          .model_files = task.sweep.model_files,
                          .modules = task.sweep.modules};
  settings.torch = task.torch;
  return settings;
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
void note_links(results::Journal& journal, int devices, const Task& task,
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
void take_over(DryRun& run, const Task& task, const RunOptions& options) {
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

// A dry run leaves nothing in --out.
int dry_run(const RunOptions& options) {
  const Task task = task_of(options);
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

int measure(const RunOptions& options) {
  const TimePoint start = Clock::now();
  Task task = task_of(options);
  if (const auto budget = budget_of(options, task.sweep)) task.plan.stop_at = start + *budget;
  check_fits(task.plan);
  const std::chrono::seconds timeout = checked_launch_timeout(options.launch_timeout);
  const LaunchSettings settings = settings_of(task, options);
  const int devices = most_devices(task.plan);
  const std::filesystem::path asked = out_of(options);
  const OutputPaths out(asked);
  check_apart(out, {options.sweep}, task.sweep.model_files, options.site);
  out.check_holds_no_other();
  const OutputFolder folder(asked);
  const results::SweepInfo info = sweep_info(task, options);
  for (const std::string& line : task.sweep.left_out) fmt::print(stderr, "{}\n", line);

  const Interrupts interrupts;
  results::Journal journal(folder.journal(), info);
  check_same_sweep(journal.contents().sweep, info, folder.journal());
  folder.mark_unfinished();
  const auto find_links = [&] { note_links(journal, devices, task, settings, folder, interrupts); };
  const bool has_links = !options.no_links && !is_pretended(options);
  if (has_links && !task.site.is_elsewhere()) find_links();
  const Launcher launcher(settings, folder.logs(), timeout, interrupts);
  SweepRunner runner(std::move(task.plan), launcher, journal, interrupts);
  const SweepEnd end = run_or_withdraw(runner, folder);
  // Links of other machines are measured last, since only a launch tells whether those machines can
  // be reached.
  if (has_links && task.site.is_elsewhere() && end == SweepEnd::kComplete) find_links();
  say_end(end, options, folder, runner.left_out());
  return finish(folder, journal.take_contents(), end);
}

}  // namespace

int run_sweep(const RunOptions& options) {
  check_not_a_rank("run");
  check_module_options(options);
  check_pretend_options(options);
  return options.dry_run ? dry_run(options) : measure(options);
}

}  // namespace tandem::cli
