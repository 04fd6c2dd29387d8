// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/sweep_axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "common/base/known_names.h"
#include "common/options/rules.h"
#include "tools/tandem/sweep/sweep_values.h"

namespace tandem::cli {

namespace {

constexpr std::size_t kMostStrategies = 10'000;

// The counts 1, 2, 4, ... and `all`.
std::vector<int> doubling(int all) {
  std::vector<int> counts;
  for (int count = 1; count < all; count *= 2) counts.push_back(count);
  counts.push_back(all);
  return counts;
}

std::vector<int> named_devices(const JsonValue& value, int all) {
  constexpr std::array<std::string_view, 3> kNames{"all", "1..all", "doubling"};
  const std::string_view name = value.text();
  if (std::ranges::find(kNames, name) == kNames.end()) {
    value.complain(
        fmt::format("{}: use numbers from 1, or {}", shown(value), fmt::join(kNames, ", ")));
  }
  if (all == 0) {
    value.complain(
        fmt::format("{}: how many there are is not known here; say --devices=N", shown(value)));
  }
  if (name == "doubling") return doubling(all);
  std::vector<int> counts;
  for (int count = name == "all" ? all : 1; count <= all; ++count) counts.push_back(count);
  return counts;
}

using Values = std::vector<std::optional<std::string>>;

Values read_values(const JsonValue& list) {
  if (!list.is_list() || list.empty()) {
    list.complain("it must be a list of values that is not empty");
  }
  Values values;
  for (const JsonValue value : list) {
    values.push_back(value.is_null() ? std::nullopt : std::optional(option_text(value)));
  }
  return values;
}

std::vector<SweepStrategy> along(const std::vector<SweepStrategy>& strategies, options::Name name,
                                 const Values& values) {
  const std::string option(name->name);
  std::vector<SweepStrategy> found;
  for (const SweepStrategy& strategy : strategies) {
    if (strategy.options.contains(option) || !options::is_varied_in(strategy.strategy, name)) {
      found.push_back(strategy);
      continue;
    }
    for (const auto& value : values) {
      found.push_back(strategy);
      if (value) found.back().options[option] = *value;
    }
  }
  return found;
}

}  // namespace

std::vector<int> read_devices(const JsonValue& file, int all) {
  constexpr std::size_t kMostCounts = 100'000;
  constexpr int kMost = 100'000;
  std::vector<int> devices;
  bool is_named = false;
  for (const JsonValue& value : file.at("devices").values()) {
    if (devices.size() > kMostCounts) file.complain("key 'devices' is too long; use fewer");
    if (!value.is_text()) {
      devices.push_back(static_cast<int>(value.whole(1, kMost)));
      continue;
    }
    is_named = true;
    const std::vector<int> named = named_devices(value, all);
    devices.insert(devices.end(), named.begin(), named.end());
  }
  if (!is_named) return devices;
  std::ranges::sort(devices);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

const options::Option& check_option_name(const std::string& name, const JsonValue& reader) {
  const options::Option* const option = options::find_option(name);
  if (option == nullptr) {
    reader.complain(fmt::format("unknown option {}{}; step_bench --help lists all",
                                shown_name(name),
                                did_you_mean(name, options::names_with(options::kVaried))));
  }
  if (!option->is(options::kVaried)) {
    reader.complain(
        fmt::format("option '{}' is none of a strategy's: a sweep has keys of its own for what is "
                    "measured, and tandem says the rest",
                    name));
  }
  return *option;
}

std::vector<SweepStrategy> along_axes(const JsonValue& sweep,
                                      const std::vector<SweepStrategy>& strategies,
                                      std::vector<std::string>& left_out) {
  const JsonValue axes = sweep.at("axes");
  axes.expect_object();
  std::vector<SweepStrategy> found = strategies;
  for (const JsonValue list : axes) {
    const std::string option(list.key());
    const options::Name name = check_option_name(option, axes);
    if (option == "precision") axes.complain("precision is a key of workloads: give it there");
    for (const SweepStrategy& strategy : strategies) {
      if (options::is_varied_in(strategy.strategy, name)) continue;
      const std::string line =
          fmt::format("{} is not varied in {}: an option of {}", strategy.strategy, option,
                      options::varied_in_words(name));
      if (std::ranges::find(left_out, line) == left_out.end()) {
        left_out.push_back(line);
      }
    }
    const Values values = read_values(list);
    if (found.size() * values.size() > kMostStrategies) {
      axes.complain("more than 10000 combinations; use several sweeps");
    }
    found = along(found, name, values);
  }
  return found;
}

}  // namespace tandem::cli
