// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/json/value.h"
#include "common/json/writer.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

inline constexpr std::size_t kMostStrategies = 10'000;  // with all values of axes

// A text of a sweep file: 1 to 1000 bytes, in one line.
[[nodiscard]] inline std::string text_of(const JsonValue& value) {
  constexpr std::size_t kLongest = 1000;
  return value.line(kLongest);
}

// A value of an option as the command line takes it: true and false become on and off.
[[nodiscard]] inline std::string option_text(const JsonValue& value) {
  if (value.is_text()) return value.text().empty() ? "" : text_of(value);
  if (value.kind() == JsonKind::kBoolean) return value.boolean() ? "on" : "off";
  if (value.is_number()) return json_line(value);
  value.complain(shown(value) + ": an option is a text, a number, true or false");
}

// The values of an axis; nothing stands for a strategy without the option.
using AxisValues = std::vector<std::optional<std::string>>;

[[nodiscard]] inline AxisValues axis_values(const JsonValue& list) {
  if (!list.is_list() || list.empty()) {
    list.complain("it must be a list of values that is not empty");
  }
  AxisValues values;
  for (const JsonValue value : list) {
    values.push_back(value.is_null() ? std::nullopt : std::optional(option_text(value)));
  }
  return values;
}

// Every strategy that the option applies to, with all its values, unless the strategy sets the
// option itself; all others as they are.
template <class AppliesTo>
[[nodiscard]] std::vector<SweepStrategy> along(const std::vector<SweepStrategy>& strategies,
                                               const std::string& option, const AxisValues& values,
                                               const AppliesTo& applies_to) {
  std::vector<SweepStrategy> found;
  for (const SweepStrategy& strategy : strategies) {
    const bool is_varied = !strategy.options.contains(option) && applies_to(strategy.strategy);
    for (const auto& value : is_varied ? values : AxisValues{std::nullopt}) {
      found.push_back(strategy);
      if (value) found.back().options[option] = *value;
    }
  }
  return found;
}

}  // namespace tandem::cli
