// SPDX-License-Identifier: Apache-2.0
//
// A step of a log, solved on described hardware: host threads and streams are lanes of the
// simulation's schedule (simulate/engine/schedule.h), in virtual time.
//
// - A thread takes the processor's time that it took between its calls, and `launch` of the
//   description for each call that enqueues work. Every thread has a core.
// - A thread has Python's lock from where the log has it taken to where the log has it let go, one
//   thread of a process at a time (TakeLock in simulate/engine/task.h). It lets go of the lock
//   while it waits for another thread or a device. A thread that is let go on by another goes on
//   `wake` later.
// - Streams run first in, first out, behind the calls that enqueued their work; waits for events,
//   copies over links, computations beside collectives and collectives of all ranks take the time
//   that they take in simulated strategies, by the same figures.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/base/units.h"
#include "simulate/catalogue/description.h"
#include "simulate/engine/schedule.h"
#include "tools/tandem/replay/call_log.h"

namespace tandem::replay {

struct HostTimes {
  Nanoseconds with_lock{0};  // of all threads of a process
  Nanoseconds without_lock{0};
};

struct ReplayedStep {
  Nanoseconds time{0};  // from the mark to the last process's next one
  simulated::PathAccount path{};
  std::vector<HostTimes> hosts{};          // by process
  std::map<int, Nanoseconds> computing{};  // by device, each computation alone
  std::map<std::string, int> guessed{};    // launches by kernel whose sizes are guessed
  Nanoseconds guessed_time{0};
  int launches = 0;  // kernels, products and calls of libraries
  int copies = 0;    // between devices, or a device and the host
  int collectives = 0;
};

// The step of this number, from 0, of every process. Processes begin together, and their streams
// are idle then. Host times are the log's over `host_speed`. Throws a usage error of
// one line where the hardware lacks the GPUs, where a call's time is not known, and where a
// collective lacks a rank.
[[nodiscard]] ReplayedStep replay_step(const std::vector<LoggedProcess>& processes,
                                       std::size_t step, const HardwareDescription& hardware,
                                       double host_speed = 1);

}  // namespace tandem::replay
