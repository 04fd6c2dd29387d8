// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/runtime/device_threads.h"
#include "common/runtime/simulated/simulation.h"

namespace tandem::simulated {

// Threads that are lanes of the simulation. A run records one thread's body after another, and yet
// the bodies' calls take place at the same time: each thread goes on from where the caller started
// it, and the caller from where the last one ended.
[[nodiscard]] std::unique_ptr<DeviceThreads> make_simulated_threads(
    Simulation& simulation, const std::vector<Device*>& devices, ThreadLife life);

}  // namespace tandem::simulated
