// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/units.h"
#include "common/results/document.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/launch/python_script.h"
#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/run/module_sweep.h"
#include "tools/tandem/run/sweep_runner.h"
#include "tools/tandem/sweep/plan.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

struct RunOptions : MeasuringOptions {
  std::string sweep;  // empty: quick on the host, node on GPUs
  std::string out;    // empty: a new folder out/SWEEP-N
  int devices = 0;    // what "all" in the sweep means, and its largest; 0: the devices found here
  bool dry_run = false;  // print what would be measured and end
  int launches = 0;      // 0: the sweep's own number
  std::string budget;    // time budget; empty: none
  std::string resolve;   // go on until ratios are resolved or within this share of 1; empty: no
  std::string backend = "auto";
  ModuleOptions module{};
  PretendOptions pretended{.gpus = 0};  // the GPUs of --pretend; 0: none
};

// The run that the options and the sweep's file ask for.
struct RunTask {
  Sweep sweep;
  LaunchSite site;
  std::string backend;
  PlannedCells planned;
  SweepPlan plan;
  std::optional<TorchTwin> torch;
  TorchCells torch_cells = TorchCells::kAll;
  std::optional<double> resolving_ratio{};  // that of --resolve
};

// Throws a usage error where options of --module, or of --pretend, meet what does not go with them.
void check_run_options(const RunOptions& options);

// Reads the sweep and plans its cells. Throws usage errors.
[[nodiscard]] RunTask task_of(const RunOptions& options);

// The folder that the user named, or a new one named after the sweep.
[[nodiscard]] std::filesystem::path out_of(const RunOptions& options);

// The time that --budget gives, or the sweep where the option is absent; nothing: any. Throws a
// usage error where there is none to spend.
[[nodiscard]] std::optional<Nanoseconds> budget_of(const RunOptions& options, const Sweep& sweep);

// Dropped cells by reason, in the order in which the reasons came up.
[[nodiscard]] std::vector<results::DroppedCells> by_reason(const std::vector<DroppedCell>& dropped);

[[nodiscard]] results::SweepInfo sweep_info(const RunTask& task, const RunOptions& options);

// Throws a usage error where a folder was begun by another sweep or on another machine. Returns
// whether it was begun with fewer launches of each cell, so that it is to grow.
[[nodiscard]] bool check_taken_up(const results::SweepInfo& found, const results::SweepInfo& asked,
                                  const RunTask& task, const std::filesystem::path& journal);

[[nodiscard]] LaunchSettings settings_of(const RunTask& task, const RunOptions& options);

// `tandem run`. Returns 0, 1 where a launch failed or the complete sweep measured nothing, 130
// where a signal ended the sweep early.
[[nodiscard]] int run_sweep(const RunOptions& options);

// The same with --dry-run: prints which cells would be measured and which not, with the time that
// they need. Leaves nothing in --out. Returns 0; throws the usage errors of the run.
[[nodiscard]] int dry_run(const RunOptions& options);

}  // namespace tandem::cli
