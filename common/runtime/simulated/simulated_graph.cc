// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/simulated/simulated_graph.h"

#include <utility>

#include "common/base/error.h"
#include "common/runtime/simulated/simulated_stream.h"

namespace tandem::simulated {

SimulatedGraph::SimulatedGraph(Simulation& simulation, TaskId first,
                               std::vector<SimulatedEvent*> recorded)
    : simulation_(simulation), first_(first), tasks_(simulation.schedule().take_back(first)) {
  for (SimulatedEvent* const event : recorded) recorded_.emplace_back(event, event->latest());
}

// The host's own calls were made at the capture: a replay is one call, for which the first task of
// each piece of work waits.
void SimulatedGraph::replay(Stream& /*stream*/) {
  Schedule& schedule = simulation_.schedule();
  const TaskId call = simulation_.launch();
  std::vector<TaskId> replayed;
  for (const Task& task : tasks_) {
    const bool is_hosts = task.lane == simulation_.thread();
    const bool is_inside = task.after != kNoTask && task.after >= first_;
    const TaskId after = is_inside ? replayed[index_of(task.after) - index_of(first_)] : kNoTask;
    replayed.push_back(is_hosts ? call : schedule.add(task.lane, anew(task.work), after, task.of));
  }
  for (const auto& [event, task] : recorded_) {
    event->set_latest(replayed[index_of(task) - index_of(first_)]);
  }
}

// A collective takes place once, so each replay has its own.
Work SimulatedGraph::anew(const Work& work) const {
  const auto* const part = std::get_if<CollectivePart>(&work);
  if (part == nullptr) return work;
  Schedule& schedule = simulation_.schedule();
  const CollectivePlan plan = schedule.plan_of(part->collective);
  if (plan.parts != 1) {
    fail(ErrorKind::kUsage,
         "a collective that several simulated ranks record cannot be replayed: leave "
         "--cuda-graph=on out");
  }
  return CollectivePart{schedule.add_collective(plan), part->processor};
}

std::unique_ptr<StreamGraph> capture_graph(Simulation& simulation,
                                           const std::function<void()>& enqueue) {
  const auto first = static_cast<TaskId>(simulation.schedule().size());
  simulation.begin_capture();
  const auto error = capture_error(enqueue);
  std::vector<SimulatedEvent*> recorded = simulation.end_capture();
  if (error) throw Error(*error);
  return std::make_unique<SimulatedGraph>(simulation, first, std::move(recorded));
}

}  // namespace tandem::simulated
