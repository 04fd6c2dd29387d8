// SPDX-License-Identifier: Apache-2.0
//
// Devices in virtual time: strategies' own code runs on them as on real ones, in one thread and in
// no time, and a deterministic solve tells how long it would have taken. Nothing is computed, and
// memory is addresses alone.
#pragma once

#include <memory>

#include "common/hardware/description.h"
#include "common/runtime/platform.h"
#include "common/runtime/simulated/simulation.h"

namespace tandem::simulated {

// Throws a usage error for more devices than the node has GPUs. Without peer access the links
// between peers are left out.
[[nodiscard]] std::unique_ptr<Platform> make_simulated_platform(HardwareDescription hardware,
                                                                const PlatformOptions& options,
                                                                SimulationExtras extras = {});

// The description in the options' file. Throws a usage error where the options name none.
[[nodiscard]] HardwareDescription described_hardware(const PlatformOptions& options);

// The simulation that a simulated device belongs to.
[[nodiscard]] Simulation& simulation_of(Device& device);

}  // namespace tandem::simulated
