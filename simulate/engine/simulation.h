// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/runtime/interpreter.h"
#include "common/runtime/span.h"
#include "simulate/catalogue/description.h"
#include "simulate/cost/collective_time.h"
#include "simulate/cost/operation_costs.h"
#include "simulate/engine/schedule.h"

namespace tandem::simulated {

// A simulation's settings beside the description.
struct SimulationExtras {
  std::optional<OperationCosts> costs{};  // absent: those of the description
  bool of_cores = false;            // the devices are cores, which NCCL does not serve; else GPUs
  bool has_measured_links = false;  // the description's links are a calibration's
};

// The collectives of ranks that meet, in the order in which every rank calls them.
class Meeting {
 public:
  // `parts`: of each collective, the ranks whose calls are recorded.
  Meeting(Schedule& schedule, int parts) : schedule_(schedule), parts_(parts) {}

  // The collective that is each rank's `sequence`-th, from 1; made by the first rank that comes.
  [[nodiscard]] CollectiveId at(std::uint64_t sequence, Nanoseconds duration);

 private:
  Schedule& schedule_;
  const int parts_;
  std::vector<CollectiveId> collectives_;
};

// The state that all objects of a simulated platform share: the schedule, the host thread that is
// running, the machine's links, and the addresses that are given out. Host threads are lanes that
// one real thread records, one after another; not thread-safe.
class Simulation {
 public:
  Simulation(HardwareDescription hardware, int devices, SimulationExtras extras = {});

  [[nodiscard]] const HardwareDescription& hardware() const { return hardware_; }
  [[nodiscard]] Schedule& schedule() { return schedule_; }
  [[nodiscard]] OperationCosts& costs() { return costs_; }
  [[nodiscard]] bool is_of_cores() const { return is_of_cores_; }
  [[nodiscard]] bool has_measured_links() const { return has_measured_links_; }
  [[nodiscard]] ProcessorId processor(DeviceId device) const;

  // ---- the host thread that is running ----

  // A call that enqueues work on a device; the work waits for the returned task.
  TaskId launch();
  // A modelled call that holds `interpreter` for this long.
  void hold(const Interpreter& interpreter, Nanoseconds duration);
  // Stops the running thread, in virtual time, until the task has ended.
  void wait_for(TaskId task);
  // The virtual time at which the running thread has done all that was recorded of it.
  [[nodiscard]] Nanoseconds now();

  [[nodiscard]] LaneId thread() const { return thread_; }
  void run_as(LaneId thread) { thread_ = thread; }
  // The device that a thread works for; the first by default.
  void work_for(LaneId thread, int device) { devices_of_threads_[thread] = device; }
  [[nodiscard]] int device_of_thread() const;
  // The delay after which a stream goes on that waited for another device's.
  [[nodiscard]] Nanoseconds wake_up() const;

  // ---- ranks ----

  // The running rank meets `ranks - 1` equal ones in each step, and stands for the slowest.
  void keep_pace_with(int ranks);
  // How long an operation lasts on that one, by how long it does in the mean.
  [[nodiscard]] Nanoseconds on_slowest(Nanoseconds mean) const;

  // The next meeting of this device's rank with the ranks of `parts - 1` other devices: one for all
  // ranks that ask for as many meetings. So ranks need not be there together.
  [[nodiscard]] std::shared_ptr<Meeting> next_meeting(DeviceId device, int parts);

  // ---- memory ----

  // The address of memory that nothing else has; no machine has it either, so that whoever touches
  // it is ended by the system.
  [[nodiscard]] std::byte* take_addresses(Bytes size);

  // Whether memory is the simulation's, which has no contents.
  [[nodiscard]] static bool has_given(const std::byte* address);

  // The links that data crosses from one place to another.
  struct Route {
    PathId path{};
    Nanoseconds latency{0};
  };
  // Between two devices, or a device and the host; not within one.
  [[nodiscard]] const Route& route(DeviceId from, DeviceId to) const;

 private:
  // The links of one device, into it and out of it. Without links between peers these are those to
  // the host, or what the driver reaches over them, in each direction and in both.
  struct DevicePorts {
    LinkId from_host;
    LinkId to_host;
    LinkId from_peers;
    LinkId to_peers;
    std::optional<LinkId> staging{};
  };

  void add_ports();
  // The links between two devices.
  [[nodiscard]] Path path_between(const DevicePorts& from, const DevicePorts& to) const;
  void add_routes();

  const HardwareDescription hardware_;
  const int devices_;
  const bool is_of_cores_;
  const bool has_measured_links_;
  OperationCosts costs_;
  Schedule schedule_;
  LaneId thread_;
  std::map<LaneId, int> devices_of_threads_;
  std::map<const Interpreter*, LockId> locks_;
  std::vector<std::shared_ptr<Meeting>> meetings_;
  std::map<int, std::size_t> meetings_of_;  // how many of meetings_ a device's rank has been at
  std::vector<ProcessorId> processors_;
  double slowdown_ = 1;  // of the slowest rank's operations
  std::vector<DevicePorts> ports_;
  std::map<std::pair<int, int>, Route> routes_;  // by the indices of both devices
  std::uintptr_t next_address_;
};

}  // namespace tandem::simulated
