// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/simulated_stream.h"

#include <utility>

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
  simulation_.note_recorded(simulated(event));
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
    return compute_by_size("copy", size, size * 2);  // read and written
  }
  const TaskId call = launch();
  const Simulation::Route& route = simulation_.route(source.device(), destination.device());
  const TimeOf of =
      simulation_.has_measured_links() ? TimeOf::kMeasuredCopy : TimeOf::kDescribedCopy;
  simulation_.schedule().add(lane_, Pause{route.latency}, call, of);
  simulation_.schedule().add(lane_, PathTransfer{route.path, size}, kNoTask, of);
}

void SimulatedStream::zero_bytes(ByteSpan destination) {
  compute_by_size("zero", destination.size_bytes(), destination.size_bytes());
}

// Calibrations have these by the bytes of the tensor, and descriptions by the bytes moved.
void SimulatedStream::compute_by_size(std::string_view name, Bytes size, Bytes moved) {
  OperationCosts& costs = simulation_.costs();
  if (!costs.is_calibrated()) return compute(memory_time(simulation_.hardware().gpu, moved));
  const OperationCost cost = costs.cost_of({.name = name, .key = name, .work = {0, size}});
  const Nanoseconds time = cost.basis == CostBasis::kDescribed
                               ? memory_time(simulation_.hardware().gpu, moved)
                               : cost.times.front();
  compute(time, cost.basis);
}

void SimulatedStream::compute(Nanoseconds alone, CostBasis basis) {
  const TaskId call = launch();
  simulation_.schedule().add(lane_, Computation{simulation_.processor(device_), alone}, call,
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

std::unique_ptr<StreamGraph> SimulatedStream::capture(const std::function<void()>& enqueue) {
  return capture_graph(simulation_, enqueue);
}

SimulatedStream& simulated_stream(Stream& stream) {
  TANDEM_CHECK(stream.device().backend == Backend::kSimulated, "a simulated stream asked of {}",
               to_string(stream.device()));
  return static_cast<SimulatedStream&>(stream);
}

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
