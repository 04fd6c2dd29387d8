// SPDX-License-Identifier: Apache-2.0
//
// Devices in virtual time: strategies' own code runs on them as on real ones, in one thread and in
// no time, and a deterministic solve gives its duration. Nothing is computed, and
// memory is addresses alone.
#pragma once

#include <memory>

#include "common/runtime/platform.h"
#include "simulate/catalogue/description.h"
#include "simulate/engine/simulation.h"

namespace tandem::simulated {

// Throws a usage error for more devices than a node has GPUs, or where one of them is this
// process's for more than all nodes have. Without peer access the links between peers are left out.
[[nodiscard]] std::unique_ptr<Platform> make_simulated_platform(HardwareDescription hardware,
                                                                const PlatformOptions& options,
                                                                SimulationExtras extras = {});

// Throws a usage error for more ranks than the described nodes have GPUs.
void check_ranks(const HardwareDescription& hardware, int ranks);

// The description in the options' file. Throws a usage error where the options name none.
[[nodiscard]] HardwareDescription described_hardware(const PlatformOptions& options);

// The simulation that a simulated device belongs to.
[[nodiscard]] Simulation& simulation_of(Device& device);

}  // namespace tandem::simulated
