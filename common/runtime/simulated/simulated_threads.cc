// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/simulated/simulated_threads.h"

#include <fmt/format.h>

#include <optional>

#include "common/base/error.h"

namespace tandem::simulated {
namespace {

class SimulatedThreads final : public DeviceThreads {
 public:
  SimulatedThreads(Simulation& simulation, const std::vector<Device*>& devices, ThreadLife life)
      : simulation_(simulation), life_(life) {
    for (const Device* const device : devices) {
      threads_.push_back(
          simulation.schedule().add_lane(fmt::format("thread of {}", to_string(device->id()))));
    }
  }

  void run(const std::function<void(int)>& body) override {
    const LaneId caller = simulation_.thread();
    for (const LaneId thread : threads_) start(thread, caller);
    std::vector<std::optional<Error>> errors;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      simulation_.run_as(threads_[i]);
      errors.push_back(capture_error([&] { body(static_cast<int>(i)); }));
    }
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

}  // namespace tandem::simulated
