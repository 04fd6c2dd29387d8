// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/simulated_threads.h"

#include <fmt/format.h>

#include <optional>

#include "common/base/error.h"

namespace tandem::simulated {
namespace {

// The failure of each lane's body.
std::vector<std::optional<Error>> record_in_turn(Simulation& simulation,
                                                 const std::vector<LaneId>& lanes,
                                                 const std::function<void(int)>& body) {
  std::vector<std::optional<Error>> errors;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    simulation.run_as(lanes[i]);
    errors.push_back(capture_error([&] { body(static_cast<int>(i)); }));
  }
  return errors;
}

class SimulatedThreads final : public DeviceThreads {
 public:
  SimulatedThreads(Simulation& simulation, const std::vector<Device*>& devices, ThreadLife life)
      : simulation_(simulation), life_(life) {
    for (const Device* const device : devices) {
      threads_.push_back(
          simulation.schedule().add_lane(fmt::format("thread of {}", to_string(device->id()))));
      simulation.work_for(threads_.back(), device->id().index);
    }
  }

  void run(const std::function<void(int)>& body) override {
    const LaneId caller = simulation_.thread();
    for (const LaneId thread : threads_) start(thread, caller);
    const auto errors = record_in_turn(simulation_, threads_, body);
    simulation_.run_as(caller);
    join(caller);
    throw_cause(errors);
  }

 private:
  // A thread that is started anew costs its caller the start, as torch's parallel_apply waits for
  // it; one that is kept wakes up by itself.
  void start(LaneId thread, LaneId caller) {
    const HostDescription& host = simulation_.hardware().host;
    const bool is_new = life_ == ThreadLife::kOneRun;
    const TaskId started = simulation_.schedule().add(
        caller, Pause{is_new ? host.thread_start.value : Nanoseconds{0}});
    simulation_.schedule().add(thread, Pause{is_new ? Nanoseconds{0} : host.wake.value}, started);
  }

  void join(LaneId caller) {
    for (const LaneId thread : threads_) {
      simulation_.wait_for(simulation_.schedule().last_of(thread));
    }
    simulation_.schedule().add(caller, Pause{simulation_.hardware().host.wake.value});
  }

  Simulation& simulation_;
  const ThreadLife life_;
  std::vector<LaneId> threads_;
};

}  // namespace

std::unique_ptr<DeviceThreads> make_simulated_threads(Simulation& simulation,
                                                      const std::vector<Device*>& devices,
                                                      ThreadLife life) {
  return std::make_unique<SimulatedThreads>(simulation, devices, life);
}

SimulatedProcesses::SimulatedProcesses(Simulation& simulation, int count)
    : simulation_(simulation), lanes_{simulation.thread()} {
  for (int i = 1; i < count; ++i) {
    lanes_.push_back(simulation.schedule().add_lane(fmt::format("process {}", i)));
    simulation.work_for(lanes_.back(), i);
  }
}

void SimulatedProcesses::run(const std::function<void(int)>& body) {
  const auto errors = record_in_turn(simulation_, lanes_, body);
  simulation_.run_as(lanes_.front());
  throw_cause(errors);
}

void SimulatedProcesses::meet() {
  Schedule& schedule = simulation_.schedule();
  for (const LaneId lane : lanes_) schedule.add(lanes_.front(), Pause{}, schedule.last_of(lane));
  const TaskId met = schedule.last_of(lanes_.front());
  for (std::size_t i = 1; i < lanes_.size(); ++i) schedule.add(lanes_[i], Pause{}, met);
}

}  // namespace tandem::simulated
