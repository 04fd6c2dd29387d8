// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/torch_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/text.h"
#include "common/options/strategies.h"
#include "tools/tandem/sweep/sweep_values.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;

// Why the option does not take the value; empty where the option takes it.
std::string mistake_in_value(const TorchOption& option, std::string_view value) {
  if (option.values.empty()) {
    const auto number = parse_number<std::int64_t>(value);
    if (number && *number >= option.least) return "";
    return fmt::format("--{}: '{}' is no whole number from {}", option.name, value, option.least);
  }
  const std::vector<std::string_view> known = split(option.values, '|');
  if (std::ranges::find(known, value) != known.end()) return "";
  return fmt::format("--{}: '{}' is not known: use one of {}", option.name, value,
                     fmt::join(known, ", "));
}

const TorchOption* find_torch_option(std::string_view name) {
  for (const TorchOption& option : torch_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string torch_launch(std::string_view strategy) {
  const bool in_processes = strategy == name_of(kIndependent) || strategy == name_of(kDdp) ||
                            options::is_sharding(strategy);
  return in_processes ? "processes" : "threads";
}

bool has_option(std::string_view strategy, const TorchOption& option) {
  const std::vector<std::string_view> owners = split(option.of, '|');
  return option.of.empty() || std::ranges::find(owners, strategy) != owners.end();
}

}  // namespace

std::vector<std::string_view> torch_option_names() {
  std::vector<std::string_view> names;
  for (const TorchOption& option : torch_options()) names.push_back(option.name);
  return names;
}

bool has_torch_strategy(std::string_view strategy, std::string_view launch) {
  const bool is_known = strategy == name_of(kSingle) || strategy == name_of(kIndependent) ||
                        strategy == name_of(kDp) || strategy == name_of(kDdp) ||
                        options::is_sharding(strategy);
  return is_known && launch == torch_launch(strategy);
}

std::string torch_option_mistake(std::string_view strategy, std::string_view name,
                                 std::string_view value) {
  const TorchOption* const option = find_torch_option(name);
  if (option == nullptr) {
    return fmt::format("option '{}' is none of torch's{}; tandem list torch-options has them", name,
                       did_you_mean(name, torch_option_names()));
  }
  if (!has_option(strategy, *option)) {
    return fmt::format("--{} is an option of torch's {}, and the strategy is {}", name,
                       fmt::join(split(option->of, '|'), ", "), strategy);
  }
  return mistake_in_value(*option, value);
}

namespace {

constexpr std::string_view kHowToCell =
    "give a strategy and options, such as --cell=\"ddp grads=views bucket-mb=10\"";

SweepStrategy named(std::string_view strategy) {
  return {.strategy = std::string(strategy), .launch = torch_launch(strategy), .options = {}};
}

bool has_option(const SweepStrategy& strategy, std::string_view name) {
  const TorchOption* const option = find_torch_option(name);
  return option != nullptr && has_option(strategy.strategy, *option);
}

// The words of --cell that are options.
using Given = std::vector<std::pair<std::string, std::string>>;

Given options_in(const std::vector<std::string_view>& words) {
  Given given;
  for (const std::string_view word : words) {
    const std::size_t mark = word.find('=');
    if (mark == std::string_view::npos || mark == 0) {
      fail(ErrorKind::kUsage, "--cell: '{}' is no OPTION=VALUE; {}", word, kHowToCell);
    }
    given.emplace_back(word.substr(0, mark), word.substr(mark + 1));
  }
  return given;
}

SweepStrategy with_options(SweepStrategy strategy, const Given& given) {
  for (const auto& [name, value] : given) {
    const std::string mistake = torch_option_mistake(strategy.strategy, name, value);
    if (!mistake.empty()) fail(ErrorKind::kUsage, "--cell: {}", mistake);
    strategy.options[name] = value;
  }
  return strategy;
}

// All strategies of torch's that have these options.
std::vector<SweepStrategy> of_all(const Given& given) {
  std::vector<SweepStrategy> found;
  for (const SweepStrategy& strategy : usual_torch_strategies()) {
    const bool has_all = std::ranges::all_of(given, [&](const auto& option) {
      return find_torch_option(option.first) == nullptr || has_option(strategy, option.first);
    });
    if (has_all) found.push_back(with_options(strategy, given));
  }
  return found;
}

}  // namespace

std::vector<SweepStrategy> usual_torch_strategies() {
  std::vector<SweepStrategy> strategies;
  for (const auto kind : {kSingle, kIndependent, kDp, kDdp}) {
    strategies.push_back(named(name_of(kind)));
  }
  return strategies;
}

std::vector<SweepStrategy> torch_strategies_of(const std::string& words) {
  std::vector<std::string_view> parts = split(words, ' ');
  std::erase(parts, "");
  if (parts.empty()) fail(ErrorKind::kUsage, "--cell: it is empty; {}", kHowToCell);
  if (parts.front().find('=') != std::string_view::npos) return of_all(options_in(parts));
  const std::string_view strategy = parts.front();
  if (!has_torch_strategy(strategy, torch_launch(strategy))) {
    fail(ErrorKind::kUsage,
         "--cell: torch has no strategy '{}'; use single, independent, dp, ddp, fsdp or zero1",
         strategy);
  }
  return {with_options(named(strategy), options_in({parts.begin() + 1, parts.end()}))};
}

SweepStrategy read_torch_strategy(const JsonValue& entry) {
  if (!entry.is_text()) entry.allow({"strategy", "launch", "options"});
  SweepStrategy strategy = named(entry.is_text() ? entry.line() : text_of(entry.at("strategy")));
  if (const auto launch = entry.find("launch")) strategy.launch = text_of(*launch);
  if (!has_torch_strategy(strategy.strategy, strategy.launch)) {
    entry.complain(
        fmt::format("torch has no strategy {} in {}; use single, dp (threads), "
                    "independent, ddp, fsdp or zero1 (processes)",
                    shown_name(strategy.strategy), strategy.launch));
  }
  const auto options = entry.find("options");
  if (!options) return strategy;
  options->expect_object();
  for (const JsonValue option : *options) {
    const std::string name(option.key());
    const std::string value = option_text(option);
    const std::string mistake = torch_option_mistake(strategy.strategy, name, value);
    if (!mistake.empty()) options->complain(mistake);
    strategy.options[name] = value;
  }
  return strategy;
}

std::vector<SweepStrategy> along_torch_axes(const JsonValue& axes,
                                            std::vector<SweepStrategy> strategies) {
  axes.expect_object();
  for (const JsonValue list : axes) {
    const std::string name(list.key());
    const TorchOption* const option = find_torch_option(name);
    if (option == nullptr) axes.complain(torch_option_mistake("", name, ""));
    const AxisValues values = axis_values(list);
    for (const auto& value : values) {
      const std::string mistake = value ? mistake_in_value(*option, *value) : "";
      if (!mistake.empty()) list.complain(mistake);
    }
    strategies = along(strategies, name, values,
                       [&](const std::string& strategy) { return has_option(strategy, *option); });
    if (strategies.size() > kMostStrategies) {
      axes.complain("more than 10000 combinations; use several sweeps");
    }
  }
  return strategies;
}

}  // namespace tandem::cli
