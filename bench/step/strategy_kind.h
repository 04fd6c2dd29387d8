// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem::bench {

enum class StrategyKind { kSingle, kIndependent, kDp, kDpAllReduce, kDdp, kDdpReplicate };

[[nodiscard]] std::string to_string(StrategyKind kind);  // the name that --strategy takes

// True where one process holds all devices; other strategies run as a process per device
// (independent: as both).
[[nodiscard]] constexpr bool is_one_process(StrategyKind kind) {
  return kind != StrategyKind::kDdp && kind != StrategyKind::kDdpReplicate;
}

// True where one device holds weights and batch for all devices, so that the step waits for that
// device.
[[nodiscard]] constexpr bool has_root(StrategyKind kind) {
  return kind == StrategyKind::kDp || kind == StrategyKind::kDdpReplicate;
}

}  // namespace tandem::bench
