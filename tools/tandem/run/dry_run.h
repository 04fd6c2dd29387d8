// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/sweep_info.h"
#include "tools/tandem/run/cell_groups.h"
#include "tools/tandem/run/progress.h"
#include "tools/tandem/sweep/plan.h"

namespace tandem::cli {

// Dropped cells by reason, in the order in which the reasons came up.
[[nodiscard]] std::vector<results::DroppedCells> by_reason(const std::vector<DroppedCell>& dropped);

// The cells that a run would measure.
struct DryRun {
  std::vector<results::Cell> cells;
  std::vector<int> launches;  // launches still to run, by cell
  LaunchTimes times;
  std::vector<results::DroppedCells> dropped;
  std::vector<std::string> left_out;  // axes that some strategy lacks, a line each
};

// The cells with the time that each needs, then the cells that are not measured, with the reason.
[[nodiscard]] std::string to_text(const DryRun& run);

// The text of a run with a budget: the cells that the budget takes first, and the cells that the
// budget leaves out.
[[nodiscard]] std::string to_text(const DryRun& run, Seconds budget);

}  // namespace tandem::cli
