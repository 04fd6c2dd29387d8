// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/torch_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "common/base/known_names.h"
#include "common/base/text.h"
#include "common/options/strategies.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;

bool is_whole(std::string_view value, std::int64_t least) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc{} && end == value.data() + value.size() && number >= least;
}

// Why the option does not take the value; empty where the option takes it.
std::string mistake_in_value(const TorchOption& option, std::string_view value) {
  if (option.values.empty()) {
    if (is_whole(value, option.least)) return "";
    return fmt::format("--{}: '{}' is no whole number from {}", option.name, value, option.least);
  }
  const std::vector<std::string_view> known = split(option.values, '|');
  if (std::ranges::find(known, value) != known.end()) return "";
  return fmt::format("--{}: '{}' is not known: use one of {}", option.name, value,
                     fmt::join(known, ", "));
}

}  // namespace

const TorchOption* find_torch_option(std::string_view name) {
  for (const TorchOption& option : torch_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::vector<std::string_view> torch_option_names() {
  std::vector<std::string_view> names;
  for (const TorchOption& option : torch_options()) names.push_back(option.name);
  return names;
}

bool has_torch_strategy(std::string_view strategy, std::string_view launch) {
  const bool is_known = strategy == name_of(kSingle) || strategy == name_of(kIndependent) ||
                        strategy == name_of(kDp) || strategy == name_of(kDdp);
  return is_known && launch == torch_launch(strategy);
}

std::string torch_launch(std::string_view strategy) {
  const bool in_processes = strategy == name_of(kIndependent) || strategy == name_of(kDdp);
  return in_processes ? "processes" : "threads";
}

std::string torch_option_mistake(std::string_view strategy, std::string_view name,
                                 std::string_view value) {
  const TorchOption* const option = find_torch_option(name);
  if (option == nullptr) {
    return fmt::format("option '{}' is none of torch's{}; tandem list torch-options has them", name,
                       did_you_mean(name, torch_option_names()));
  }
  if (!option->of.empty() && option->of != strategy) {
    return fmt::format("--{} is an option of torch's {}, and the strategy is {}", name, option->of,
                       strategy);
  }
  return mistake_in_value(*option, value);
}

}  // namespace tandem::cli
