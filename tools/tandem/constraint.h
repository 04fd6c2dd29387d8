// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/launch_record.h"

namespace tandem::cli {

// One of the things that a constraint looks at in a cell. It holds where the cell's value is one of
// `any_of` (if there are some), above `above` and below `below`.
struct Condition {
  // "strategy", "launch", "model", "devices", "batch", "batch_per_device", or an option's name.
  std::string key;
  std::vector<std::string> any_of;
  std::optional<double> above;
  std::optional<double> below;
};

// Cells for which all conditions hold are not measured, for this reason.
struct Constraint {
  std::vector<Condition> when;
  std::string reason;
};

// Keys of a condition that are no options.
[[nodiscard]] const std::vector<std::string_view>& cell_keys();

[[nodiscard]] bool holds(const Constraint& constraint, const results::Cell& cell);

}  // namespace tandem::cli
