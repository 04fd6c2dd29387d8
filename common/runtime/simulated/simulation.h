// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/hardware/description.h"
#include "common/hardware/operation_costs.h"
#include "common/runtime/interpreter.h"
#include "common/runtime/link_model.h"
#include "common/runtime/simulated/schedule.h"
#include "common/runtime/span.h"

namespace tandem::simulated {

// A link that every device and the host are at the end of, as the host back end models one: each
// has one port for all its transfers, in either direction.
struct OneLink {
  LinkModel model{};
  int ranks_here = 1;  // ranks of equal work that this platform's one device stands for
};

// What a simulation knows beside the description.
struct SimulationExtras {
  std::optional<OperationCosts> costs{};  // absent: those of the description
  std::optional<OneLink> link{};          // in place of the description's links
};

// What all objects of a simulated platform share: the schedule, the host thread that is running,
// the machine's links, and the addresses that are given out. Host threads are lanes that one real
// thread records, one after another; not thread-safe.
class Simulation {
 public:
  Simulation(HardwareDescription hardware, int devices, SimulationExtras extras = {});

  [[nodiscard]] const HardwareDescription& hardware() const { return hardware_; }
  [[nodiscard]] Schedule& schedule() { return schedule_; }
  [[nodiscard]] OperationCosts& costs() { return costs_; }
  // Absent: links are the description's.
  [[nodiscard]] const std::optional<OneLink>& one_link() const { return link_; }
  [[nodiscard]] ProcessorId processor(DeviceId device) const;

  // ---- the host thread that is running ----

  // A call that enqueues work on a device; the work waits for the returned task.
  TaskId launch();
  // A modelled call that holds `interpreter` for this long.
  void hold(const Interpreter& interpreter, Nanoseconds duration);
  // The thread waits until the task has ended.
  void wait_for(TaskId task);
  // The time at which the thread has done all that it was recorded to do.
  [[nodiscard]] Nanoseconds now();

  [[nodiscard]] LaneId thread() const { return thread_; }
  void run_as(LaneId thread) { thread_ = thread; }

  // ---- memory ----

  // The address of memory that nothing else has; no machine has it either, so that whoever touches
  // it is ended by the system.
  [[nodiscard]] std::byte* take_addresses(Bytes size);

  // How data gets from one place to another.
  struct Way {
    PathId path{};
    Nanoseconds latency{0};
    Bytes busy{};  // what the path could carry while each transfer's latency keeps it busy
  };
  // Between two devices, or a device and the host; not within one.
  [[nodiscard]] const Way& way(DeviceId from, DeviceId to) const;

 private:
  // The links of one device, into it and out of it. Without links between peers these are those to
  // the host.
  struct DevicePorts {
    LinkId from_host;
    LinkId to_host;
    LinkId from_peers;
    LinkId to_peers;
  };

  void add_ports();
  void add_ways();
  void add_ways_of(const OneLink& link);

  const HardwareDescription hardware_;
  const int devices_;
  const std::optional<OneLink> link_;
  OperationCosts costs_;
  Schedule schedule_;
  LaneId thread_;
  std::map<const Interpreter*, LockId> locks_;
  std::vector<ProcessorId> processors_;
  std::vector<DevicePorts> ports_;
  std::map<std::pair<int, int>, Way> ways_;  // by the indices of both devices
  std::uintptr_t next_address_;
};

}  // namespace tandem::simulated
