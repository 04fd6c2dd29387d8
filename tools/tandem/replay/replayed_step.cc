// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/replay/replayed_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "common/base/error.h"
#include "simulate/cost/operation_costs.h"
#include "simulate/engine/simulation.h"
#include "tools/tandem/replay/collectives.h"
#include "tools/tandem/replay/device_work.h"

namespace tandem::replay {
namespace {

using simulated::kNoTask;
using simulated::LaneId;
using simulated::LockId;
using simulated::TaskId;
using simulated::TimeOf;

// A host thread as far as its calls were taken.
struct HostThread {
  LaneId lane{};
  ThreadState state{};
  Nanoseconds owed{0};  // what it computed since its lane's last task
};

struct RecordedEvent {
  TaskId task = kNoTask;  // of the stream
  TaskId call = kNoTask;
  int thread = 0;
  int device = 0;
};

struct SentPost {
  TaskId task = kNoTask;
  int thread = 0;
};

// A collective whose group has not ended.
struct PendingCollective {
  RankCollective call;
  LaneId stream{};
  int device = 0;
};

// What all processes of a step share.
struct Machine {
  Machine(const HardwareDescription& hardware, int devices)
      : simulation(hardware, devices), collectives(simulation.schedule(), hardware) {}

  [[nodiscard]] simulated::Schedule& schedule() { return simulation.schedule(); }
  [[nodiscard]] const HardwareDescription& hardware() const { return simulation.hardware(); }

  simulated::Simulation simulation;
  Collectives collectives;
  ReplayedStep step{};
};

// The calls of one process in a step, made tasks in the order of time.
class ProcessTasks {
 public:
  ProcessTasks(Machine& machine, const LoggedProcess& process, std::size_t number,
               double host_speed)
      : machine_(machine),
        process_(process),
        number_(number),
        host_speed_(host_speed),
        lock_(machine.schedule().add_lock()) {
    machine_.step.hosts.resize(number + 1);
  }

  // Adds the tasks from one mark to the next and returns that mark's.
  TaskId add(std::size_t step) {
    const MarkedStep& marked = process_.steps.at(step);
    begin_ = process_.calls[marked.begin].time;
    for (const auto& [number, state] : marked.threads) begin_thread(number, state);
    for (std::size_t at = marked.begin + 1; at <= marked.end; ++at) take(process_.calls[at]);
    const TaskId end = settled(threads_.at(process_.calls[marked.end].thread));
    // Whoever still has the lock keeps it behind the step; others may yet wait for it within.
    for (auto& [number, thread] : threads_) {
      if (thread.state.has_lock) let_go(thread);
    }
    return end;
  }

 private:
  // ---- host threads ----

  void begin_thread(int number, const ThreadState& state) {
    const LaneId lane =
        machine_.schedule().add_lane(fmt::format("{} thread {}", process_.file, number));
    threads_[number] = {lane, state, {}};
    if (state.has_lock) take_lock(threads_[number]);
  }

  void take_lock(const HostThread& thread) {
    machine_.schedule().add(thread.lane,
                            simulated::TakeLock{lock_, machine_.hardware().host.wake.value});
  }

  void let_go(HostThread& thread) {
    settled(thread);
    machine_.schedule().add(thread.lane, simulated::LetGoOfLock{lock_});
  }

  // What the thread computed since its last call, within the step and without the log's own time.
  [[nodiscard]] Nanoseconds computed(const HostThread& thread, const LoggedCall& call) const {
    const Nanoseconds since = std::max(thread.state.last, begin_);
    const Nanoseconds spent = call.cpu - thread.state.cpu - process_.log_time;
    return std::max(std::min(spent, call.time - since), Nanoseconds{0});
  }

  void take(const LoggedCall& call) {
    HostThread& thread = threads_.at(call.thread);
    const Nanoseconds spent = computed(thread, call);
    thread.owed += Nanoseconds{std::llround(static_cast<double>(spent.count()) / host_speed_)};
    std::visit([&](const auto& asked) { take(thread, call, asked); }, call.asked);
    thread.state.follow(call);
  }

  // Adds what the thread owes, and returns the lane's last task.
  TaskId settled(HostThread& thread) {
    const Nanoseconds owed = std::exchange(thread.owed, Nanoseconds{0});
    HostTimes& host = machine_.step.hosts[number_];
    (thread.state.has_lock ? host.with_lock : host.without_lock) += owed;
    simulated::Schedule& schedule = machine_.schedule();
    const bool is_marked = schedule.last_of(thread.lane) != kNoTask;
    if (owed == Nanoseconds{0} && is_marked) return schedule.last_of(thread.lane);
    return schedule.add(thread.lane, simulated::Pause{owed});
  }

  // A call that enqueues work, which then waits for the returned task.
  TaskId launch(HostThread& thread) {
    thread.owed += machine_.hardware().host.launch.value;
    return settled(thread);
  }

  void wait_for(HostThread& thread, TaskId task) {
    if (task != kNoTask) wait(thread, simulated::Pause{}, task);
  }

  // Whoever waits lets others have the lock, even if its log has it throughout: what the thread
  // waits for was over in the log, and may need the lock here.
  void wait(HostThread& thread, const simulated::Work& work, TaskId task) {
    settled(thread);
    if (thread.state.has_lock) let_go(thread);
    machine_.schedule().add(thread.lane, work, task);
    if (thread.state.has_lock) take_lock(thread);
  }

  // ---- streams ----

  LaneId stream_of(int device, std::int64_t stream) {
    const auto found = streams_.find({device, stream});
    if (found != streams_.end()) return found->second;
    const LaneId lane = machine_.schedule().add_lane(
        fmt::format("{} stream {} of GPU {}", process_.file, stream, device));
    return streams_.emplace(std::pair(device, stream), lane).first->second;
  }

  void compute(HostThread& thread, const LoggedCall& call, const DeviceTime& work) {
    ++machine_.step.launches;
    machine_.step.computing[call.device] += work.time;
    const simulated::ProcessorId processor =
        machine_.simulation.processor({Backend::kSimulated, call.device});
    const TaskId launched = launch(thread);
    machine_.schedule().add(stream_of(call.device, call.stream),
                            simulated::Computation{processor, work.time}, launched,
                            TimeOf::kDescribedOperation);
  }

  // ---- calls ----

  // NOLINTBEGIN(readability-convert-member-functions-to-static): calls of other kinds are members
  void take(HostThread& /*thread*/, const LoggedCall& /*call*/, const HostCall& /*asked*/) {}
  // NOLINTEND(readability-convert-member-functions-to-static)

  void take(HostThread& thread, const LoggedCall& /*call*/, const StepMark& /*mark*/) {
    settled(thread);
  }

  void take(HostThread& thread, const LoggedCall& /*call*/, const LockChange& change) {
    settled(thread);
    if (change.is_held == thread.state.has_lock) return;
    if (change.is_held) {
      take_lock(thread);
    } else {
      let_go(thread);
    }
  }

  void take(HostThread& thread, const LoggedCall& call, const Post& post) {
    posts_[post.object] = {settled(thread), call.thread};
  }

  void take(HostThread& thread, const LoggedCall& call, const Woken& woken) {
    settled(thread);
    const auto post = posts_.find(woken.object);
    if (post == posts_.end() || post->second.thread == call.thread) return;
    wait(thread, simulated::WakeUp{machine_.hardware().host.wake.value}, post->second.task);
  }

  void take(HostThread& thread, const LoggedCall& call, const KernelLaunch& kernel) {
    const DeviceTime work = time_of(kernel, machine_.hardware().gpu);
    if (!work.is_told) {
      ++machine_.step.guessed[std::string(kernel.kernel)];
      machine_.step.guessed_time += work.time;
    }
    compute(thread, call, work);
  }

  void take(HostThread& thread, const LoggedCall& call, const MatrixProduct& product) {
    compute(thread, call, time_of(product, machine_.hardware().gpu));
  }

  void take(HostThread& thread, const LoggedCall& call, const LibraryCall& library) {
    compute(thread, call, time_of(library, call.function, machine_.hardware().gpu));
  }

  void take(HostThread& thread, const LoggedCall& call, const MemoryFill& fill) {
    compute(thread, call, {memory_time(machine_.hardware().gpu, fill.size)});
  }

  void take(HostThread& thread, const LoggedCall& call, const MemoryCopy& copy) {
    if (copy.from == copy.to) {
      if (copy.from >= 0) {
        compute(thread, call, {memory_time(machine_.hardware().gpu, copy.size * 2)});
      }
      return;  // within the host's memory the thread's own time has it
    }
    ++machine_.step.copies;
    const simulated::Simulation::Route& route =
        machine_.simulation.route({Backend::kSimulated, copy.from}, {Backend::kSimulated, copy.to});
    const LaneId stream = stream_of(call.device, call.stream);
    const TaskId launched = launch(thread);
    machine_.schedule().add(stream, simulated::Pause{route.latency}, launched,
                            TimeOf::kDescribedCopy);
    const TaskId moved = machine_.schedule().add(
        stream, simulated::PathTransfer{route.path, copy.size}, kNoTask, TimeOf::kDescribedCopy);
    if (copy.blocks) wait_for(thread, moved);
  }

  void take(HostThread& thread, const LoggedCall& call, const EventRecord& record) {
    const TaskId launched = launch(thread);
    const TaskId task =
        machine_.schedule().add(stream_of(call.device, call.stream), simulated::Pause{}, launched);
    events_[record.event] = {task, launched, call.thread, call.device};
  }

  void take(HostThread& thread, const LoggedCall& call, const EventWait& wait) {
    const auto found = events_.find(wait.event);
    if (found == events_.end()) {  // recorded before the step, and over since
      launch(thread);
      return;
    }
    const RecordedEvent& event = found->second;
    // Whoever waits has heard of the event, by a way that no wait of the thread need show.
    if (event.thread != call.thread) wait_for(thread, event.call);
    launch(thread);
    const auto& wake = machine_.hardware().host.stream_wake;
    const Nanoseconds wake_up = wake && event.device != call.device ? wake->value : Nanoseconds{0};
    machine_.schedule().add(stream_of(call.device, call.stream), simulated::WakeUp{wake_up},
                            event.task);
  }

  void take(HostThread& thread, const LoggedCall& call, const HostWait& wait) {
    if (wait.what == HostWait::For::kEvent) {
      const auto found = events_.find(wait.event);
      if (found != events_.end()) wait_for(thread, found->second.task);
      return;
    }
    if (wait.what == HostWait::For::kNothing) return;
    const bool is_of_device = wait.what == HostWait::For::kDevice;
    for (const auto& [place, lane] : streams_) {
      const bool is_meant =
          place.first == call.device && (is_of_device || place.second == call.stream);
      if (is_meant) wait_for(thread, machine_.schedule().last_of(lane));
    }
  }

  void take(HostThread& thread, const LoggedCall& call, const RankCollective& collective) {
    pending_[call.thread].push_back({collective, stream_of(call.device, call.stream), call.device});
    thread.owed += machine_.hardware().host.launch.value;
    if (collective.group == 0) enqueue_pending(thread, call.thread);
  }

  void take(HostThread& thread, const LoggedCall& call, const GroupEnd& /*group*/) {
    enqueue_pending(thread, call.thread);
  }

  // The calls of a group are enqueued at once, at its end.
  void enqueue_pending(HostThread& thread, int thread_number) {
    const TaskId launched = settled(thread);
    std::vector<PendingCollective> all = std::exchange(pending_[thread_number], {});
    const bool has_several = std::ranges::any_of(
        all, [&](const PendingCollective& one) { return one.call.rank != all.front().call.rank; });
    for (const PendingCollective& one : all) {
      const simulated::CollectiveId id = machine_.collectives.at(
          number_, one.call, has_several ? MeetingRanks::kOfOneGroup : MeetingRanks::kProcesses);
      const simulated::ProcessorId processor =
          machine_.simulation.processor({Backend::kSimulated, one.device});
      machine_.schedule().add(one.stream, simulated::CollectivePart{id, processor}, launched,
                              TimeOf::kDescribedCollective);
    }
  }

  Machine& machine_;
  const LoggedProcess& process_;
  const std::size_t number_;
  const double host_speed_;
  const LockId lock_;
  Nanoseconds begin_{0};
  std::map<int, HostThread> threads_;
  std::map<std::pair<int, std::int64_t>, LaneId> streams_;
  std::map<std::int64_t, RecordedEvent> events_;
  std::map<std::int64_t, SentPost> posts_;
  std::map<int, std::vector<PendingCollective>> pending_;
};

int devices_of(const std::vector<LoggedProcess>& processes) {
  int most = 0;
  for (const LoggedProcess& process : processes) {
    for (const LoggedCall& call : process.calls) most = std::max(most, call.device + 1);
  }
  return most;
}

void check_gpus(int devices, const HardwareDescription& hardware) {
  const int most = hardware.node.gpus.value * hardware.nodes();
  if (devices <= most) return;
  fail(ErrorKind::kUsage,
       "replaying the log: it uses GPU {}, and {} has {}; choose hardware with more, or record the "
       "log with fewer",
       devices - 1, hardware.name, most);
}

}  // namespace

ReplayedStep replay_step(const std::vector<LoggedProcess>& processes, std::size_t step,
                         const HardwareDescription& hardware, double host_speed) {
  const int devices = devices_of(processes);
  check_gpus(devices, hardware);
  Machine machine(hardware, devices);
  std::vector<TaskId> ends;
  for (std::size_t number = 0; number < processes.size(); ++number) {
    ends.push_back(ProcessTasks(machine, processes[number], number, host_speed).add(step));
  }
  machine.collectives.check_complete();
  simulated::Schedule& schedule = machine.schedule();
  const LaneId end = schedule.add_lane("the step's end");
  for (const TaskId task : ends) schedule.add(end, simulated::Pause{}, task);
  machine.step.time = schedule.end_of(schedule.last_of(end));
  machine.step.path = schedule.take_path_account();
  machine.step.collectives = machine.collectives.count();
  return std::move(machine.step);
}

}  // namespace tandem::replay
