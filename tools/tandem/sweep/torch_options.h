// SPDX-License-Identifier: Apache-2.0
//
// The strategies and options of cells that PyTorch measures. tools/torch/options.json is the one
// list of options: step_twin reads that file, and the build makes this table of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/json/value.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

struct TorchOption {
  std::string_view name;
  std::string_view of{};      // the strategies that have the option, "ddp|zero1"; empty: all
  std::string_view values{};  // "copy|views", the default first; empty: a whole number
  std::int64_t least = 0;     // of numbers
  std::string_view usual{};   // the default of a number; empty: torch's own
  std::string_view help{};
};

[[nodiscard]] std::span<const TorchOption> torch_options();

[[nodiscard]] std::vector<std::string_view> torch_option_names();

// Whether torch has the strategy, launched as `launch` says: independent runs as processes alone.
[[nodiscard]] bool has_torch_strategy(std::string_view strategy, std::string_view launch);

// The fault of the option in a cell of torch's, as "--grads: 'viewz' is not known: use copy,
// views"; empty where nothing is.
[[nodiscard]] std::string torch_option_mistake(std::string_view strategy, std::string_view name,
                                               std::string_view value);

// The strategies that a module is measured with unasked, with torch's default options: single,
// independent, dp, ddp.
[[nodiscard]] std::vector<SweepStrategy> usual_torch_strategies();

// The strategies that one value of --cell names, such as "ddp grads=views bucket-mb=10"; without a
// strategy all the usual ones that have the options. Throws a usage error for other words.
[[nodiscard]] std::vector<SweepStrategy> torch_strategies_of(const std::string& words);

// A strategy in a sweep file whose workloads are modules.
[[nodiscard]] SweepStrategy read_torch_strategy(const JsonValue& entry);

// Reads key 'axes' of such a file: every strategy is combined with all values of the options that
// the strategy has and does not set itself.
[[nodiscard]] std::vector<SweepStrategy> along_torch_axes(const JsonValue& axes,
                                                          std::vector<SweepStrategy> strategies);

}  // namespace tandem::cli
