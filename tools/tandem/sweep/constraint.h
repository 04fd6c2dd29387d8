// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/json/value.h"
#include "common/json/writer.h"
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

[[nodiscard]] bool holds(const Constraint& constraint, const results::Cell& cell);

// Reads key 'constraints' of a sweep file: a list of {"drop": {KEY: VALUE, ...}, "reason": TEXT},
// where a VALUE is one value, a list of values, or {"above": NUMBER, "below": NUMBER}.
[[nodiscard]] std::vector<Constraint> read_constraints(const JsonValue& sweep);

// Writes what read_constraints() reads.
void write_constraints(JsonWriter& writer, const std::vector<Constraint>& constraints);

}  // namespace tandem::cli
