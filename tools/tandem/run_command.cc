// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/base/error.h"
#include "common/results/context.h"
#include "common/results/journal.h"
#include "common/results/machine_facts.h"
#include "reports/report.h"
#include "tools/tandem/budget.h"
#include "tools/tandem/nvidia_device.h"
#include "tools/tandem/output_folder.h"
#include "tools/tandem/program_paths.h"
#include "tools/tandem/sweep.h"
#include "tools/tandem/sweep_runner.h"

namespace tandem::cli {
namespace {

constexpr int kInterruptedExit = 130;

// An own mpirun inside another one's rank would not find its way.
void check_not_a_rank() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return;
  fail(ErrorKind::kUsage,
       "tandem run was started by mpirun; start it alone, it calls mpirun for the launches that "
       "need it");
}

std::string checked_backend(const std::string& backend) {
  if (backend == "auto" || backend == "host" || backend == "cuda") return backend;
  fail(ErrorKind::kUsage, "--backend: '{}' is unknown; known are auto, host, cuda", backend);
}

// Host devices are cores. What `auto` comes to is step_bench's to say; where the system has an
// NVIDIA device it is not the host, and the number of cores is no limit.
int core_limit(const RunOptions& options) {
  const bool on_host =
      options.backend == "host" || (options.backend == "auto" && !has_nvidia_device());
  if (!on_host || options.oversubscribe) return 0;
  return results::gather_machine_facts().cores;
}

results::SweepInfo sweep_info(const Sweep& sweep, const RunOptions& options, std::size_t cells) {
  const results::MachineFacts machine = results::gather_machine_facts();
  results::SweepInfo info;
  info.name = sweep.name;
  info.definition = definition_of(sweep, options.backend, options.oversubscribe);
  info.planned_cells = static_cast<int>(cells);
  info.launches_per_cell = sweep.launches;
  info.context = results::gather_context((program_folder() / "tandem").string());
  info.context.custom = {{"tandem_version", TANDEM_VERSION},
                         {"tandem_sweep", sweep.name},
                         {"tandem_cpu_model", machine.cpu_model},
                         {"tandem_cores", std::to_string(machine.cores)},
                         {"tandem_cpu_time", "repeats real_time: it was not measured apart"}};
  return info;
}

// Two sweeps, or two machines, in one journal would be compared as if they were one.
void check_same_sweep(const results::SweepInfo& found, const results::SweepInfo& asked,
                      const std::filesystem::path& journal) {
  if (found.definition != asked.definition) {
    fail(ErrorKind::kUsage,
         "resuming {}: it belongs to another sweep or other options ('{}'); repeat those or choose "
         "another --out",
         journal.string(), found.name);
  }
  for (const char* fact : {"tandem_cpu_model", "tandem_cores", "tandem_version"}) {
    const auto then = found.context.custom.find(fact);
    const auto now = asked.context.custom.find(fact);
    if (then != found.context.custom.end() && then->second == now->second) continue;
    fail(ErrorKind::kUsage, "resuming {}: its {} is '{}', here it is '{}'; choose another --out",
         journal.string(), std::string_view(fact).substr(7),
         then == found.context.custom.end() ? "" : then->second, now->second);
  }
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

bool any_with(results::Status status, const results::Document& document) {
  return std::any_of(document.launches.begin(), document.launches.end(),
                     [&](const auto& record) { return record.status == status; });
}

// A sweep of which every cell would be skipped.
void check_fits(const SweepRunner::Plan& plan) {
  const bool fits = std::any_of(plan.cells.begin(), plan.cells.end(), [&](const auto& cell) {
    return plan.cores == 0 || cell.devices <= plan.cores;
  });
  if (fits) return;
  fail(ErrorKind::kUsage,
       "every cell of the sweep has more devices than there are cores to run on ({}): nothing to "
       "measure; --oversubscribe measures all the same",
       plan.cores);
}

std::chrono::seconds launch_timeout(const RunOptions& options) {
  const Seconds timeout = parse_long_duration(options.launch_timeout, "--launch-timeout");
  if (timeout < Seconds{1}) {
    fail(ErrorKind::kUsage, "--launch-timeout: '{}' is under 1s, in which no launch ends",
         options.launch_timeout);
  }
  return std::chrono::ceil<std::chrono::seconds>(timeout);
}

// No results of a run that a usage error ended.
SweepEnd run_or_withdraw(SweepRunner runner, const OutputFolder& folder) {
  try {
    return runner.run();
  } catch (const Error& error) {
    const auto journal = results::read_journal(folder.journal());
    const bool measured =
        journal &&
        any_with(results::Status::kOk, {.sweep = journal->sweep, .launches = journal->launches});
    if (error.kind() == ErrorKind::kUsage && !measured) folder.withdraw();
    throw;
  }
}

int finish(const OutputFolder& folder, SweepEnd end) {
  const auto journal = results::read_journal(folder.journal());
  if (!journal) fail(ErrorKind::kFailure, "reading {}: it is gone", folder.journal().string());
  const reports::Report report =
      reports::make_report({.sweep = journal->sweep, .launches = journal->launches});
  folder.write(report);
  if (end == SweepEnd::kComplete) folder.mark_finished();
  fmt::print("{}\n{}\n", reports::to_terminal(report), folder.page().string());
  if (end == SweepEnd::kInterrupted) return kInterruptedExit;
  const bool is_void =
      end == SweepEnd::kComplete && !any_with(results::Status::kOk, report.document);
  return is_void || any_with(results::Status::kFailed, report.document) ? 1 : 0;
}

}  // namespace

int run_sweep(const RunOptions& options) {
  check_not_a_rank();
  const TimePoint start = Clock::now();
  Sweep sweep = load_sweep(options.sweep, sweep_folders());
  if (options.launches > 0) sweep.launches = options.launches;
  SweepRunner::Plan plan{.cells = cells_of(sweep, checked_backend(options.backend)),
                         .launches = sweep.launches,
                         .cores = core_limit(options),
                         .stop_at = std::nullopt};
  if (!options.budget.empty()) {
    const Seconds budget = parse_long_duration(options.budget, "--budget");
    plan.stop_at = start + std::chrono::duration_cast<Nanoseconds>(budget);
  }
  check_fits(plan);
  const std::chrono::seconds timeout = launch_timeout(options);
  const LaunchSettings settings{.step_bench = find_step_bench(options.step_bench),
                                .min_time = sweep.min_time,
                                .min_samples = sweep.min_samples,
                                .oversubscribe = options.oversubscribe};
  const OutputFolder folder(options.out);
  const results::SweepInfo info = sweep_info(sweep, options, plan.cells.size());

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
