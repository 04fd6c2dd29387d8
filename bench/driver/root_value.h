// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>

#include "common/comm/bootstrap.h"

namespace tandem::bench {

// Rank 0's value, bit for bit; the values of other ranks do not count. Collective.
[[nodiscard]] inline double root_value(Bootstrap& bootstrap, double value) {
  return std::stod(broadcast(bootstrap, fmt::format("{:.17g}", value), 0));
}

}  // namespace tandem::bench
