// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/simulated/simulated_platform.h"
#include "tests/support/round_machine.h"

namespace tandem::test {

[[nodiscard]] inline std::unique_ptr<Platform> simulated_devices(
    int count, const HardwareDescription& machine = round_machine()) {
  PlatformOptions options;
  options.devices = count;
  return simulated::make_simulated_platform(machine, options);
}

}  // namespace tandem::test
