// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <utility>

#include "common/base/error.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/nvidia_device.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/run/measuring.h"
#include "tools/tandem/run/resolving.h"
#include "tools/tandem/run/run_command.h"

namespace tandem::cli {
namespace {

// Whether the devices are pretended GPUs.
bool is_pretended(const RunOptions& options) { return options.pretended.gpus != 0; }

bool is_of_module(const RunOptions& options) { return !options.module.source.empty(); }

std::string sweep_of(const RunOptions& options) {
  if (!options.sweep.empty()) return options.sweep;
  return is_on_host(checked_backend(options.backend)) ? "quick" : "node";
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
void plan_models(RunTask& task, const RunOptions& options) {
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
void plan_modules(RunTask& task, const RunOptions& options) {
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
  if (!task.site.program.empty()) {  // each of its ranks has one device
    std::erase_if(task.sweep.strategies, [](const auto& s) { return s.strategy == "dp"; });
  }
  const std::vector<ModuleFacts> modules =
      name_modules(task.sweep, folder_of_modules(options), ask);
  task.planned = plan_cells(task.sweep, task.backend);
  make_torch_cells(task.planned, task.torch->name, is_on_host(task.backend), modules);
}

// Reads the sweep. A sweep of GPUs is planned for them where there are none, too; only its launches
// need them.
void read_sweep(RunTask& task, const RunOptions& options) {
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

}  // namespace

void check_run_options(const RunOptions& options) {
  check_module_options(options);
  check_pretend_options(options);
}

std::filesystem::path out_of(const RunOptions& options) {
  if (!options.out.empty()) return options.out;
  if (is_of_module(options)) return new_folder(short_name(options.module.source));
  return new_folder(std::filesystem::path(sweep_of(options)).stem().string());
}

RunTask task_of(const RunOptions& options) {
  RunTask task;
  task.site = checked_site(options.site);
  read_sweep(task, options);
  if (!options.resolve.empty()) {
    task.resolving_ratio = parse_percentage(options.resolve, "--resolve");
    task.sweep.launches = std::min(task.sweep.launches, kLaunchesBeforeLooking);
  }
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
  if (task.resolving_ratio) check_has_comparisons(task.planned.cells);
  task.plan = {.cells = task.planned.cells,
               .launches = task.sweep.launches,
               .limit = {.site = task.site,
                         .cores = core_limit(task.backend, options.oversubscribe),
                         .oversubscribe = options.oversubscribe},
               .stop_at = std::nullopt,
               .model_series = task.sweep.model_series};
  return task;
}

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

std::optional<Nanoseconds> budget_of(const RunOptions& options, const Sweep& sweep) {
  const bool is_asked = !options.budget.empty();
  const std::string& text = is_asked ? options.budget : sweep.budget;
  if (text.empty()) return std::nullopt;
  const Nanoseconds budget = parse_duration(text, "--budget");
  if (budget > Nanoseconds{0}) return budget;
  fail(ErrorKind::kUsage, "{}: {} is no time to end a launch in; give a time such as 30m",
       is_asked ? "--budget" : "the sweep's key 'budget'", text);
}

namespace {

std::string definition_with(const RunTask& task, int launches) {
  Sweep sweep = task.sweep;
  sweep.launches = launches;
  return definition_of(sweep, {.backend = task.backend,
                               .oversubscribe = task.plan.limit.oversubscribe,
                               .site = text_of(task.site),
                               .torch = task.torch ? task.torch->name : "",
                               .torch_has_pairs_alone = task.torch_cells == TorchCells::kPairs});
}

}  // namespace

results::SweepInfo sweep_info(const RunTask& task, const RunOptions& options) {
  const Sweep& sweep = task.sweep;
  results::SweepInfo info;
  info.name = sweep.name;
  info.definition = definition_with(task, sweep.launches);
  info.planned_cells = static_cast<int>(task.plan.cells.size());
  info.launches_per_cell = sweep.launches;
  info.dropped = by_reason(task.planned.dropped);
  info.context =
      measuring_context(sweep.name, sweep.is_of_modules ? std::filesystem::path()
                                                        : find_step_bench(options.step_bench));
  info.commands = {options.command};
  return info;
}

bool check_taken_up(const results::SweepInfo& found, const results::SweepInfo& asked,
                    const RunTask& task, const std::filesystem::path& journal) {
  const bool has_more = found.launches_per_cell < asked.launches_per_cell &&
                        found.definition == definition_with(task, found.launches_per_cell);
  if (has_more) {
    check_same_machine(found, asked.context, journal);
    check_same_programs(found, asked.context, journal);
  } else {
    check_same_sweep(found, asked, journal);
  }
  if (task.resolving_ratio) check_resolves(found, *task.resolving_ratio);
  return has_more;
}

LaunchSettings settings_of(const RunTask& task, const RunOptions& options) {
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

}  // namespace tandem::cli
