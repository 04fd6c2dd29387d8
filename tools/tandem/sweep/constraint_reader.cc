// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/constraint_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "common/base/known_names.h"
#include "tools/tandem/sweep/option_rules.h"

namespace tandem::cli {
namespace {

void check_key(const std::string& key, const SweepReader& reader) {
  std::vector<std::string_view> known = cell_keys();
  known.insert(known.end(), sweep_options().begin(), sweep_options().end());
  if (std::find(known.begin(), known.end(), key) != known.end()) return;
  reader.complain(fmt::format("unknown key {}{}; known are {} and the options of step_bench",
                              quoted(key), did_you_mean(key, known), fmt::join(cell_keys(), ", ")));
}

double number(const SweepReader& limits, const char* key) {
  if (!limits.at(key).is_number()) {
    limits.complain(fmt::format("key '{}' must be a number", key));
  }
  return limits.at(key).get<double>();
}

Condition read_condition(const std::string& key, const SweepJson& value,
                         const SweepReader& reader) {
  check_key(key, reader);
  Condition condition{.key = key, .any_of = {}, .above = {}, .below = {}};
  if (!value.is_object()) {
    for (const SweepJson& one : value.is_array() ? value : SweepJson::array({value})) {
      condition.any_of.push_back(option_text(one, reader, key));
    }
    if (condition.any_of.empty()) reader.complain(fmt::format("key '{}' is empty", key));
    return condition;
  }
  const SweepReader limits(value, reader.where() + ", " + key);
  limits.allow({"above", "below"});
  if (value.empty()) limits.complain("must say above, below or both");
  if (limits.has("above")) condition.above = number(limits, "above");
  if (limits.has("below")) condition.below = number(limits, "below");
  return condition;
}

SweepJson to_json(const Condition& condition) {
  if (!condition.any_of.empty()) return condition.any_of;
  SweepJson limits = SweepJson::object();
  if (condition.above) limits["above"] = *condition.above;
  if (condition.below) limits["below"] = *condition.below;
  return limits;
}

}  // namespace

std::vector<Constraint> read_constraints(const SweepReader& sweep) {
  std::vector<Constraint> constraints;
  for (const auto& [json, where] : sweep.objects("constraints")) {
    const SweepReader reader(*json, where);
    reader.allow({"drop", "reason"});
    const SweepReader drop(reader.at("drop"), where + ", drop");
    Constraint constraint{.when = {}, .reason = reader.text("reason")};
    for (const auto& [key, value] : drop.object().items()) {
      constraint.when.push_back(read_condition(key, value, drop));
    }
    if (constraint.when.empty()) drop.complain("is empty: it would drop every cell");
    constraints.push_back(constraint);
  }
  return constraints;
}

SweepJson to_json(const std::vector<Constraint>& constraints) {
  SweepJson list = SweepJson::array();
  for (const Constraint& constraint : constraints) {
    SweepJson drop = SweepJson::object();
    for (const Condition& condition : constraint.when) drop[condition.key] = to_json(condition);
    list.push_back(SweepJson{{"drop", drop}, {"reason", constraint.reason}});
  }
  return list;
}

}  // namespace tandem::cli
