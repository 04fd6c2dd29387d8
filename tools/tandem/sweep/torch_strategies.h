// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/json/value.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

// The strategies that torch has, with its default options: single, independent, dp, ddp.
[[nodiscard]] std::vector<SweepStrategy> usual_torch_strategies();

// The strategies that one value of --cell names, such as "ddp grads=views bucket-mb=10"; without a
// strategy all that torch has and that have the options. Throws a usage error for other words.
[[nodiscard]] std::vector<SweepStrategy> torch_strategies_of(const std::string& words);

// A strategy in a sweep file whose workloads are modules.
[[nodiscard]] SweepStrategy read_torch_strategy(const JsonValue& entry);

// Reads key 'axes' of such a file: every strategy is combined with all values of the options that
// the strategy has and does not set itself.
[[nodiscard]] std::vector<SweepStrategy> along_torch_axes(const JsonValue& axes,
                                                          std::vector<SweepStrategy> strategies);

}  // namespace tandem::cli
