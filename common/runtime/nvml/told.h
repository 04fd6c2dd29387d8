// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/runtime/nvml/nvml_api.h"

namespace tandem::nvml {

// More than NVLINK_MAX_LINKS of any GPU so far; asking for one that is not there ends the search.
inline constexpr unsigned kMostNvlinks = 64;

// What a function tells, where the driver has it and it works for this GPU.
template <class Value, class Function, class... Arguments>
std::optional<Value> told(Function function, Arguments... arguments) {
  Value value{};
  if (function == nullptr || function(arguments..., &value) != kSuccess) return std::nullopt;
  return value;
}

}  // namespace tandem::nvml
