// SPDX-License-Identifier: Apache-2.0
//
// Which cores the threads of each GPU get: a pure rule over what the machine tells.
#pragma once

#include <vector>

namespace tandem::host {

// The OS numbers of the hardware threads of a core that may be used.
using Core = std::vector<int>;

// For each device the OS numbers that its threads are bound to, ascending and never none. `cores`,
// not empty, are those that may be used, in the machine's order; near[d] are the OS numbers near
// device d, in any order.
//
// A device gets cores that have a thread near it; where nothing is known to be near it, or nothing
// of that may be used, all cores serve. Cores that serve the same devices are shared out among
// these evenly, in contiguous pieces: no core has two devices, but where the devices are more than
// their cores. No core is split.
[[nodiscard]] std::vector<std::vector<int>> share_cores(const std::vector<Core>& cores,
                                                        const std::vector<std::vector<int>>& near);

}  // namespace tandem::host
