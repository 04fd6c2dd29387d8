// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/sweep_info.h"
#include "tools/tandem/information.h"
#include "tools/tandem/launch_times.h"
#include "tools/tandem/plan.h"

namespace tandem::cli {

// Dropped cells by reason, in the order in which the reasons came up.
[[nodiscard]] std::vector<results::DroppedCells> by_reason(const std::vector<DroppedCell>& dropped);

// What a run would measure.
struct DryRun {
  std::vector<results::Cell> cells;
  std::vector<int> launches;  // to go, by cell
  LaunchTimes times;
  std::vector<results::DroppedCells> dropped;
  std::vector<std::string> left_out;  // axes, a line each
};

// The cells with how long they will take, then what is not measured and why.
[[nodiscard]] std::string to_text(const DryRun& run);

// The same where a budget is given: which of the cells it takes first, and which it leaves out.
[[nodiscard]] std::string to_text(const DryRun& run, Seconds budget);

}  // namespace tandem::cli
