// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/launch_record.h"

namespace tandem::cli {

// One condition of a constraint on a cell. The condition holds where the cell's value is one of
// `any_of` (unless that list is empty), above `above` and below `below`.
struct Condition {
  // "strategy", "launch", "model", "devices", "batch", "batch_per_device", or an option's name.
  std::string key;
  std::vector<std::string> any_of;
  std::optional<double> above;
  std::optional<double> below;
};

// Cells that meet all conditions are not measured, for this reason.
struct Constraint {
  std::vector<Condition> when;
  std::string reason;
};

// The keys of a condition that are not options.
[[nodiscard]] const std::vector<std::string_view>& cell_keys();

[[nodiscard]] bool holds(const Constraint& constraint, const results::Cell& cell);

}  // namespace tandem::cli
