// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "simulate/engine/simulated_platform.h"
#include "tests/support/round_machine.h"

namespace tandem::test {

[[nodiscard]] inline std::unique_ptr<Platform> simulated_devices(
    int count, const HardwareDescription& machine = round_machine(),
    simulated::SimulationExtras extras = {}) {
  PlatformOptions options;
  options.devices = count;
  return simulated::make_simulated_platform(machine, options, std::move(extras));
}

}  // namespace tandem::test
