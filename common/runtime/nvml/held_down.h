// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/base/clock.h"
#include "common/runtime/nvml/nvml_api.h"

namespace tandem::nvml {

// How long each cause has held a GPU's clocks down since the driver was loaded: "power cap",
// "thermal slowdown", "board limit", "reliability". A cause that the driver does not count is
// absent. Drivers advance these counters in steps, some of 100 ms.
using HeldDown = std::map<std::string, Nanoseconds>;

[[nodiscard]] HeldDown held_down(const Api& api, DeviceRef gpu);

// The increase between two readings, of the causes that both readings have; a counter that went
// back (the driver was loaded anew) is left out.
[[nodiscard]] HeldDown between(const HeldDown& before, const HeldDown& after);

}  // namespace tandem::nvml
