// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tools/tandem/launch_site.h"
#include "tools/tandem/plan.h"

namespace tandem::cli {

// PyTorch beside step_bench: tools/torch/step_twin in a python that has torch.
struct TorchTwin {
  std::string python;            // as exec finds it
  std::filesystem::path script;  // step_twin
  std::string name;              // "torch-2.15.0": the cells' implementation
};

// `python` is the value of --with-torch, not empty. Nothing, with one line on stderr that says
// why, where it has no torch or launches would run elsewhere than on this machine: a sweep goes on
// without. Throws a usage error where there is no such program, but for the usual "python3".
[[nodiscard]] std::optional<TorchTwin> find_torch_twin(const std::string& python,
                                                       const LaunchSite& site);

// What a call from Python costs it, as a duration such as "3.2us": measured now, on one core.
// Throws a failure where it does not tell.
[[nodiscard]] std::string dispatch_cost_of(const TorchTwin& twin);

// Whether torch has a strategy of that kind with those options, whatever the machine.
[[nodiscard]] bool has_torch_counterpart(const results::Cell& cell);

// Adds the twin of every cell that torch can measure, in the order of the cells; those that it
// cannot are dropped with a reason.
void add_torch_cells(PlannedCells& planned, const std::string& name, bool is_host);

}  // namespace tandem::cli
