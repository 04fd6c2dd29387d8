// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/constraint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "common/base/known_names.h"
#include "common/json/fields.h"
#include "common/options/values.h"
#include "tools/tandem/sweep/sweep_values.h"
#include "tools/tandem/sweep/torch_options.h"

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
  return cell.option(key);
}

bool holds(const Condition& condition, const results::Cell& cell) {
  const std::string value = value_of(cell, condition.key);
  const std::vector<std::string>& any = condition.any_of;
  if (!any.empty() && std::ranges::find(any, value) == any.end()) return false;
  if (!condition.above && !condition.below) return true;
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0') return false;  // the option is absent, or no number
  return (!condition.above || number > *condition.above) &&
         (!condition.below || number < *condition.below);
}

// The keys of a condition that are not options.
constexpr std::array<std::string_view, 6> kCellKeys{"strategy", "launch", "model",
                                                    "devices",  "batch",  "batch_per_device"};

void check_key(const JsonValue& condition, const JsonValue& drop) {
  const std::string_view key = condition.key();
  std::vector<std::string_view> known(kCellKeys.begin(), kCellKeys.end());
  const std::vector<std::string_view> varied = options::names_with(options::kVaried);
  known.insert(known.end(), varied.begin(), varied.end());
  const std::vector<std::string_view> of_torch = torch_option_names();
  known.insert(known.end(), of_torch.begin(), of_torch.end());
  if (std::ranges::find(known, key) != known.end()) return;
  drop.complain(fmt::format("unknown key {}{}; known are {} and the options of step_bench",
                            shown_name(key), did_you_mean(key, known), fmt::join(kCellKeys, ", ")));
}

Condition read_condition(const JsonValue& value, const JsonValue& drop) {
  check_key(value, drop);
  Condition condition{.key = std::string(value.key()), .any_of = {}, .above = {}, .below = {}};
  if (!value.is_object()) {
    for (const JsonValue& one : value.values()) condition.any_of.push_back(option_text(one));
    return condition;
  }
  value.allow({"above", "below"});
  if (value.empty()) value.complain("must say above, below or both");
  if (const auto above = value.find("above")) condition.above = above->number();
  if (const auto below = value.find("below")) condition.below = below->number();
  return condition;
}

void write(JsonWriter& writer, const Condition& condition) {
  if (!condition.any_of.empty()) return write_json(writer, condition.key, condition.any_of);
  writer.open(condition.key, '{');
  write_json(writer, "above", condition.above);
  write_json(writer, "below", condition.below);
  writer.close();
}

}  // namespace

bool holds(const Constraint& constraint, const results::Cell& cell) {
  return std::ranges::all_of(constraint.when,
                             [&](const Condition& condition) { return holds(condition, cell); });
}

std::vector<Constraint> read_constraints(const JsonValue& sweep) {
  std::vector<Constraint> constraints;
  for (const JsonValue& json : sweep.at("constraints").elements()) {
    json.allow({"drop", "reason"});
    const JsonValue drop = json.at("drop");
    drop.expect_object();
    Constraint constraint{.when = {}, .reason = text_of(json.at("reason"))};
    for (const JsonValue condition : drop)
      constraint.when.push_back(read_condition(condition, drop));
    if (constraint.when.empty()) drop.complain("is empty: it would drop every cell");
    constraints.push_back(constraint);
  }
  return constraints;
}

void write_constraints(JsonWriter& writer, const std::vector<Constraint>& constraints) {
  writer.open("constraints", '[');
  for (const Constraint& constraint : constraints) {
    writer.open("", '{');
    writer.open("drop", '{');
    for (const Condition& condition : constraint.when) write(writer, condition);
    writer.close();
    writer.value("reason", constraint.reason);
    writer.close();
  }
  writer.close();
}

}  // namespace tandem::cli
