// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "common/runtime/simulated/task.h"

namespace tandem::simulated {

// The links that the data of one transfer crosses; not empty.
using Path = std::vector<LinkId>;

// The rates of transfers that share links fairly (max-min): no transfer can become faster without
// making one slower that is no faster. `links` has the bytes per second of each link, `paths` the
// path of each transfer; the rates are in bytes per second, by transfer.
[[nodiscard]] std::vector<double> fair_rates(std::span<const double> links,
                                             std::span<const Path* const> paths);

}  // namespace tandem::simulated
