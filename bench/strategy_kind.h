// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem::bench {

enum class StrategyKind { kSingle, kIndependent, kDp, kDpAllReduce, kDdp, kDdpReplicate };

[[nodiscard]] std::string to_string(StrategyKind kind);  // as --strategy takes it

// All its devices are one process's; the others run as a process per device (independent: as both).
[[nodiscard]] constexpr bool is_one_process(StrategyKind kind) {
  return kind != StrategyKind::kDdp && kind != StrategyKind::kDdpReplicate;
}

// One device holds weights and batch for all: what waits for it is waited for by the step.
[[nodiscard]] constexpr bool has_root(StrategyKind kind) {
  return kind == StrategyKind::kDp || kind == StrategyKind::kDdpReplicate;
}

}  // namespace tandem::bench
