// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/simulated_stream.h"

#include "common/base/error.h"
#include "simulate/cost/operation_costs.h"

namespace tandem::simulated {

namespace {

// Events are made by devices, so one that streams of the simulation are given is its own.
SimulatedEvent& simulated(Event& event) { return static_cast<SimulatedEvent&>(event); }
const SimulatedEvent& simulated(const Event& event) {
  return static_cast<const SimulatedEvent&>(event);
}

TimeOf operation_time_of(CostBasis basis) {
  switch (basis) {
    case CostBasis::kMeasured:
      return TimeOf::kMeasuredOperation;
    case CostBasis::kInterpolated:
      return TimeOf::kInterpolatedOperation;
    case CostBasis::kScaled:
      return TimeOf::kScaledOperation;
    case CostBasis::kPlain:
      return TimeOf::kPlainOperation;
    case CostBasis::kDescribed:
      break;
  }
  return TimeOf::kDescribedOperation;
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

TaskId SimulatedStream::launch() {
  const TaskId call = simulation_.launch();
  // A GPU takes work from any thread alike.
  const bool is_own = simulation_.device_of_thread() == device_.index;
  if (is_own || !simulation_.is_of_cores()) return call;
  return simulation_.schedule().add(lane_, WakeUp{simulation_.wake_up()}, call);
}

void SimulatedStream::record(Event& event) { record_after(event, simulation_.launch()); }

// Not before the host has come here, as for any record.
void SimulatedStream::note(Event& event) {
  record_after(event, simulation_.schedule().last_of(simulation_.thread()));
}

void SimulatedStream::record_after(Event& event, TaskId call) {
  simulated(event).set_latest(simulation_.schedule().add(lane_, Pause{}, call));
}

void SimulatedStream::wait(const Event& event) {
  simulation_.launch();
  const SimulatedEvent& awaited = simulated(event);
  const bool sleeps = awaited.recorded_on() != device_;
  const Nanoseconds wake_up = sleeps ? simulation_.wake_up() : Nanoseconds{0};
  simulation_.schedule().add(lane_, WakeUp{wake_up}, awaited.latest());
}

void SimulatedStream::start_after(TimePoint time) {
  simulation_.schedule().add(lane_, NotBefore{time.time_since_epoch()}, kNoTask, TimeOf::kWaiting);
}

void SimulatedStream::delay(Nanoseconds duration) {
  const TaskId call = launch();
  simulation_.schedule().add(lane_, Pause{duration}, call, TimeOf::kWaiting);
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
  if (!Simulation::has_given(destination.data())) {
    fail(
        ErrorKind::kUsage,
        "{}: memory is read back, and a simulation computes no numbers: run this on --backend=host "
        "or cuda",
        to_string(device_));
  }
  const Bytes size = destination.size_bytes();
  if (destination.device() == source.device()) {
    return compute_by_size("copy", size, KernelKind::kCopy, size * 2);  // read and written
  }
  const TaskId call = launch();
  const Simulation::Route& route = simulation_.route(source.device(), destination.device());
  const TimeOf of =
      simulation_.has_measured_links() ? TimeOf::kMeasuredCopy : TimeOf::kDescribedCopy;
  simulation_.schedule().add(lane_, Pause{route.latency}, call, of);
  simulation_.schedule().add(lane_, PathTransfer{route.path, size}, kNoTask, of);
}

void SimulatedStream::zero_bytes(ByteSpan destination) {
  const Bytes size = destination.size_bytes();
  compute_by_size("zero", size, KernelKind::kFill, size);
}

// Calibrations have these by the bytes of the tensor, and descriptions by the bytes moved.
void SimulatedStream::compute_by_size(std::string_view name, Bytes size, KernelKind kind,
                                      Bytes moved) {
  const OperationCost cost =
      simulation_.costs().cost_of({.name = name,
                                   .key = name,
                                   .work = {0, size},
                                   .kernels = {{.kind = kind, .sizes = {moved.value}}}});
  compute(cost.times.front(), cost.basis);
}

void SimulatedStream::compute(Nanoseconds alone, CostBasis basis) {
  const TaskId call = launch();
  simulation_.schedule().add(
      lane_, Computation{simulation_.processor(device_), simulation_.on_slowest(alone)}, call,
      operation_time_of(basis));
}

void SimulatedStream::take_part(CollectiveId collective, TimeOf of) {
  const TaskId call = launch();
  simulation_.schedule().add(lane_, CollectivePart{collective, simulation_.processor(device_)},
                             call, of);
}

void SimulatedStream::take_part(CollectiveId collective, Nanoseconds work) {
  take_part(collective, TimeOf::kDescribedCollective);
  simulation_.schedule().add(lane_, Computation{simulation_.processor(device_), work}, kNoTask,
                             TimeOf::kMeasuredCollective);
}

SimulatedStream& simulated_stream(Stream& stream) {
  TANDEM_CHECK(stream.device().backend == Backend::kSimulated, "a simulated stream asked of {}",
               to_string(stream.device()));
  return static_cast<SimulatedStream&>(stream);
}

}  // namespace tandem::simulated
