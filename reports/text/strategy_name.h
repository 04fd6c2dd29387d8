// SPDX-License-Identifier: Apache-2.0
//
// What reports call a strategy. Cells, CSV, JSON and commands keep the stored name.
#pragma once

#include <string_view>

#include "common/options/strategies.h"

namespace tandem::reports {

// "independent" does not tell a reader that it bounds what any strategy can reach.
inline constexpr std::string_view kNoCommunication = "no communication (bound)";

[[nodiscard]] constexpr std::string_view shown_strategy(std::string_view stored) {
  return stored == name_of(options::StrategyKind::kIndependent) ? kNoCommunication : stored;
}

}  // namespace tandem::reports
