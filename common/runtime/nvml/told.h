// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/runtime/nvml/nvml_api.h"

namespace tandem::nvml {

// A bound above NVLINK_MAX_LINKS of any GPU so far; asking for a link that is not there ends the
// search.
inline constexpr unsigned kMostNvlinks = 64;

// The value that a function returns; absent where the driver lacks the function or the call fails
// for this GPU.
template <class Value, class Function, class... Arguments>
std::optional<Value> told(Function function, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(arguments..., &value) != kSuccess) return std::nullopt;
  return value;
}

}  // namespace tandem::nvml
