// SPDX-License-Identifier: Apache-2.0
//
// The options of cells that PyTorch measures. tools/torch/options.json is the one list of them:
// step_twin reads that file, and the build makes this table of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::cli {

struct TorchOption {
  std::string_view name;
  std::string_view of{};      // the one strategy that has the option; empty: all have it
  std::string_view values{};  // "copy|views", the default first; empty: a whole number
  std::int64_t least = 0;     // of numbers
  std::string_view usual{};   // the default of a number; empty: torch's own
  std::string_view help{};
};

[[nodiscard]] std::span<const TorchOption> torch_options();

// The option of that name; null where torch's cells have none.
[[nodiscard]] const TorchOption* find_torch_option(std::string_view name);

[[nodiscard]] std::vector<std::string_view> torch_option_names();

// Whether torch has the strategy, launched as `launch` says: independent runs as processes alone.
[[nodiscard]] bool has_torch_strategy(std::string_view strategy, std::string_view launch);

// "processes" or "threads", as torch launches the strategy.
[[nodiscard]] std::string torch_launch(std::string_view strategy);

// What is wrong with the option in a cell of torch's, as "--grads: 'viewz' is not known: use copy,
// views"; empty where nothing is.
[[nodiscard]] std::string torch_option_mistake(std::string_view strategy, std::string_view name,
                                               std::string_view value);

}  // namespace tandem::cli
