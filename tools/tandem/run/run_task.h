// SPDX-License-Identifier: Apache-2.0
//
// What the options of `tandem run` and the sweep's file ask for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/units.h"
#include "common/results/document.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/run/run_command.h"
#include "tools/tandem/run/sweep_runner.h"
#include "tools/tandem/sweep/plan.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

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

}  // namespace tandem::cli
