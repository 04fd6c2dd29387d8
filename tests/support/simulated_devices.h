// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "common/base/units.h"
#include "simulate/engine/simulated_platform.h"
#include "tests/support/round_machine.h"

namespace tandem::test {

[[nodiscard]] constexpr Nanoseconds ns(std::int64_t count) { return Nanoseconds{count}; }

[[nodiscard]] inline std::unique_ptr<Platform> simulated_devices(
    int count, const HardwareDescription& machine = round_machine(),
    simulated::SimulationExtras extras = {}) {
  PlatformOptions options;
  options.devices = count;
  return simulated::make_simulated_platform(machine, options, std::move(extras));
}

}  // namespace tandem::test
