// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/step/strategy_kind.h"

namespace tandem::bench {

// An option of step_bench that not every strategy has.
struct OwnedOption {
  std::string name;  // without dashes
  std::vector<StrategyKind> owners;
};

[[nodiscard]] const std::vector<OwnedOption>& owned_options();

// True where the strategy has the option: options that every strategy has, and the strategy's own.
[[nodiscard]] bool has_option(StrategyKind strategy, const std::string& option);

// The owners, in words, of an option that not every strategy has: "ddp and dp-allreduce".
[[nodiscard]] std::string owners_of(const std::string& option);

}  // namespace tandem::bench
