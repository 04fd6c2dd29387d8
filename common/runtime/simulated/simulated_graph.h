// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/runtime/simulated/simulation.h"
#include "common/runtime/stream.h"

namespace tandem::simulated {

class SimulatedEvent;

// What streams were given while it was captured, to be given to them again by one call of the
// host's.
class SimulatedGraph final : public StreamGraph {
 public:
  // Takes the tasks from `first` on out of the simulation, where none of them may have been
  // settled. `recorded`: the events that were recorded meanwhile, in order.
  SimulatedGraph(Simulation& simulation, TaskId first, std::vector<SimulatedEvent*> recorded);

  void replay(Stream& stream) override;

 private:
  [[nodiscard]] Work anew(const Work& work) const;

  Simulation& simulation_;
  const TaskId first_;
  std::vector<Task> tasks_;
  // The events, each with the task that it was recorded as.
  std::vector<std::pair<SimulatedEvent*, TaskId>> recorded_;
};

// Has `enqueue` recorded, and takes what it recorded as a graph.
[[nodiscard]] std::unique_ptr<StreamGraph> capture_graph(Simulation& simulation,
                                                         const std::function<void()>& enqueue);

}  // namespace tandem::simulated
