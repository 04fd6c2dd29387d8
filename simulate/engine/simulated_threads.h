// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/runtime/device_threads.h"
#include "simulate/engine/simulation.h"

namespace tandem::simulated {

// Threads that are lanes of the simulation. A run records one thread's body after another, and yet
// the bodies' calls take place at the same time: each thread goes on from where the caller started
// it, and the caller from where the last one ended. Starts and wake-ups take the described times.
[[nodiscard]] std::unique_ptr<DeviceThreads> make_simulated_threads(
    Simulation& simulation, const std::vector<Device*>& devices, ThreadLife life);

// Processes that are lanes of the simulation, the caller the first of them. Each goes on from where
// it was itself.
class SimulatedProcesses {
 public:
  SimulatedProcesses(Simulation& simulation, int count);

  [[nodiscard]] int size() const { return static_cast<int>(lanes_.size()); }

  // Records body(i) as what process i does next, one process after another. Of several failures
  // that of the first process is thrown.
  void run(const std::function<void(int)>& body);

  // All wait until all have come here, which takes no time.
  void meet();

 private:
  Simulation& simulation_;
  std::vector<LaneId> lanes_;
};

}  // namespace tandem::simulated
