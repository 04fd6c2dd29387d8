// SPDX-License-Identifier: Apache-2.0
//
// The rule by which the threads of each GPU get cores: a pure function of what the machine tells.
#pragma once

#include <vector>

namespace tandem::host {

// The OS numbers of a core's hardware threads that may be used.
using Core = std::vector<int>;

// For each device the OS numbers that the device's threads are bound to, ascending and never none.
// `cores`, not empty, are the cores that may be used, in the machine's order; near[d] are the OS
// numbers near device d, in any order.
//
// A device gets cores that have a thread near the device; where no usable core is known to be near,
// all cores serve the device. Cores that serve the same devices are shared out among these devices
// evenly, in contiguous pieces: no core has two devices, unless the devices outnumber the cores. No
// core is split.
[[nodiscard]] std::vector<std::vector<int>> share_cores(const std::vector<Core>& cores,
                                                        const std::vector<std::vector<int>>& near);

}  // namespace tandem::host
