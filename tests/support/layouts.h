// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <vector>

#include "common/model/parameter_layout.h"

namespace tandem::test {

// One-dimensional parameters of these element counts.
[[nodiscard]] inline ParameterLayout layout_of(const std::vector<std::int64_t>& counts) {
  ParameterLayout layout;
  for (const std::int64_t count : counts) layout.add(fmt::format("p{}", layout.size()), {count});
  return layout;
}

[[nodiscard]] constexpr std::int64_t floats_in(Bytes bytes) { return bytes.value / 4; }

}  // namespace tandem::test
