// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/simulated/simulated_stream.h"

#include "common/base/error.h"
#include "common/hardware/operation_time.h"

namespace tandem::simulated {
namespace {

// Events are made by devices, so one that streams of the simulation are given is its own.
SimulatedEvent& simulated(Event& event) { return static_cast<SimulatedEvent&>(event); }
const SimulatedEvent& simulated(const Event& event) {
  return static_cast<const SimulatedEvent&>(event);
}

}  // namespace

bool SimulatedEvent::is_done() const {
  return simulation_.schedule().end_of(latest_) <= simulation_.now();
}

Nanoseconds SimulatedEvent::time() const {
  TANDEM_CHECK(latest_ != kNoTask, "the time of an event of {} that was never recorded",
               to_string(device_));
  return simulation_.schedule().end_of(latest_);
}

Nanoseconds SimulatedEvent::since(const TimedEvent& start) const {
  return time() - static_cast<const SimulatedEvent&>(start).time();
}

void SimulatedStream::record(Event& event) {
  const TaskId call = simulation_.launch();
  simulated(event).set_latest(simulation_.schedule().add(lane_, Pause{}, call));
}

void SimulatedStream::wait(const Event& event) {
  simulation_.launch();
  simulation_.schedule().add(lane_, Pause{}, simulated(event).latest());
}

void SimulatedStream::start_after(TimePoint time) {
  simulation_.schedule().add(lane_, NotBefore{time.time_since_epoch()});
}

void SimulatedStream::delay(Nanoseconds duration) {
  const TaskId call = simulation_.launch();
  simulation_.schedule().add(lane_, Pause{duration}, call);
}

// The thread itself is held up: what it enqueues from now on comes later by as much.
void SimulatedStream::dispatch(Interpreter& interpreter, DispatchKind kind, int calls) {
  const Nanoseconds duration = interpreter.count(kind, calls);
  if (interpreter.takes_time()) simulation_.hold(interpreter, duration);
}

void SimulatedStream::synchronize() { simulation_.wait_for(simulation_.schedule().last_of(lane_)); }

bool SimulatedStream::is_done() {
  return simulation_.schedule().end_of(simulation_.schedule().last_of(lane_)) <= simulation_.now();
}

void SimulatedStream::copy_bytes(ByteSpan destination, ConstByteSpan source) {
  const Bytes size = destination.size_bytes();
  if (destination.device() == source.device()) {
    return compute(memory_time(simulation_.hardware().gpu, size * 2));  // read and written
  }
  const TaskId call = simulation_.launch();
  const Simulation::Way& way = simulation_.way(source.device(), destination.device());
  simulation_.schedule().add(lane_, Pause{way.latency}, call);
  simulation_.schedule().add(lane_, PathTransfer{way.path, size});
}

void SimulatedStream::zero_bytes(ByteSpan destination) {
  compute(memory_time(simulation_.hardware().gpu, destination.size_bytes()));
}

void SimulatedStream::compute(Nanoseconds alone) {
  const TaskId call = simulation_.launch();
  simulation_.schedule().add(lane_, Computation{simulation_.processor(device_), alone}, call);
}

void SimulatedStream::take_part(CollectiveId collective) {
  const TaskId call = simulation_.launch();
  simulation_.schedule().add(lane_, CollectivePart{collective, simulation_.processor(device_)},
                             call);
}

SimulatedStream& simulated_stream(Stream& stream) {
  TANDEM_CHECK(stream.device().backend == Backend::kSimulated, "a simulated stream asked of {}",
               to_string(stream.device()));
  return static_cast<SimulatedStream&>(stream);
}

}  // namespace tandem::simulated
