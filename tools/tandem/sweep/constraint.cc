// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/constraint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace tandem::cli {
namespace {

// The cell's value of a key; "" where the cell does not have the option.
std::string value_of(const results::Cell& cell, const std::string& key) {
  if (key == "strategy") return cell.strategy;
  if (key == "launch") return cell.launch;
  if (key == "model") return cell.model;
  if (key == "devices") return std::to_string(cell.devices);
  if (key == "batch") return std::to_string(cell.global_batch);
  if (key == "batch_per_device") {
    return fmt::format("{}", static_cast<double>(cell.global_batch) / cell.devices);
  }
  const auto option = cell.options.find(key);
  return option == cell.options.end() ? "" : option->second;
}

bool holds(const Condition& condition, const results::Cell& cell) {
  const std::string value = value_of(cell, condition.key);
  const std::vector<std::string>& any = condition.any_of;
  if (!any.empty() && std::find(any.begin(), any.end(), value) == any.end()) return false;
  if (!condition.above && !condition.below) return true;
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0') return false;  // the option is absent, or no number
  return (!condition.above || number > *condition.above) &&
         (!condition.below || number < *condition.below);
}

}  // namespace

const std::vector<std::string_view>& cell_keys() {
  static const std::vector<std::string_view> keys{"strategy", "launch", "model",
                                                  "devices",  "batch",  "batch_per_device"};
  return keys;
}

bool holds(const Constraint& constraint, const results::Cell& cell) {
  return std::all_of(constraint.when.begin(), constraint.when.end(),
                     [&](const Condition& condition) { return holds(condition, cell); });
}

}  // namespace tandem::cli
