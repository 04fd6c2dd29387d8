// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tandem::options {

// The strategies that PyTorch alone has, beside those of strategies.h: a process per device keeps a
// share of the training's state (tools/torch/twin/sharded.py).
inline constexpr std::array<std::string_view, 2> kSharding{"fsdp", "zero1"};

[[nodiscard]] constexpr bool is_sharding(std::string_view strategy) {
  return std::ranges::find(kSharding, strategy) != kSharding.end();
}

}  // namespace tandem::options
