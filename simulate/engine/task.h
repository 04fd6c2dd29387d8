// SPDX-License-Identifier: Apache-2.0
//
// The work of simulated streams and host threads, as tasks in lanes. A lane is a stream or a host
// thread: its tasks run one after another, in the order in which they were added. A task may also
// wait for one task of another lane, and competes with other tasks for what they share.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "common/base/units.h"

namespace tandem::simulated {

enum class LaneId : std::int32_t {};
enum class LockId : std::int32_t {};        // an interpreter: one call at a time
enum class ProcessorId : std::int32_t {};   // a device's compute
enum class LinkId : std::int32_t {};        // one direction of a link
enum class PathId : std::int32_t {};        // links that data crosses together
enum class CollectiveId : std::int64_t {};  // one collective, not one communicator
enum class TaskId : std::int64_t {};        // numbered from 0 as tasks are added
inline constexpr TaskId kNoTask{-1};

// The index of an id.
template <class Id>
[[nodiscard]] constexpr std::size_t index_of(Id id) {
  return static_cast<std::size_t>(id);
}

// Time that passes whatever else happens: a host's call, a latency, a planted slowness. A pause of
// no time only marks a point in its lane.
struct Pause {
  Nanoseconds duration{0};
};

// A lane goes on that may have stood still until the task that it waits for ended, which takes the
// lane a while to notice. No time passes where that task was over before the lane came here.
struct WakeUp {
  Nanoseconds duration{0};
};

// Ends at a time, or at once where that time has passed.
struct NotBefore {
  Nanoseconds time{0};
};

// Holds a lock for a while. Lanes get a lock in the order in which they reach their calls.
struct LockedCall {
  LockId lock{};
  Nanoseconds duration{0};
};

// Computes on a device. Computations of several streams share the processor evenly, and each is
// slower while a collective moves data on the device.
struct Computation {
  ProcessorId processor{};
  Nanoseconds alone{0};  // the time with the device to itself
};

// Moves bytes over all links of a path at once. Transfers share links fairly (fair_rates() in
// solver.h).
struct PathTransfer {
  PathId path{};
  Bytes size;
};

// One rank's part in a collective. Every part begins when its own lane gets there, and all end
// together, a collective's duration after the last one began. Data moves, and slows computations
// on the part's processor down, in this last stretch alone.
struct CollectivePart {
  CollectiveId collective{};
  ProcessorId processor{};
};

using Work =
    std::variant<Pause, WakeUp, NotBefore, LockedCall, Computation, PathTransfer, CollectivePart>;

// The kind of a task's time, and the basis of its length.
enum class TimeOf : std::uint8_t {
  kMeasuredOperation,
  kInterpolatedOperation,
  kScaledOperation,
  kDescribedOperation,
  kPlainOperation,  // described: products without tensor cores
  kMeasuredCopy,    // between devices, or with the host
  kDescribedCopy,
  kMeasuredCollective,
  kDescribedCollective,
  kHost,     // calls and threads of the host
  kWaiting,  // for a time, or as long as was asked for
};
inline constexpr auto kTimeNames = std::to_array<std::string_view>(
    {"operations measured", "operations interpolated", "operations scaled", "operations described",
     "operations described without tensor cores", "copies measured", "copies described",
     "collectives measured", "collectives described", "host", "waiting"});

struct Task {
  LaneId lane{};
  TaskId before = kNoTask;  // the task before this one in the lane
  TaskId after = kNoTask;   // a task, of another lane as a rule, that must have ended too
  Work work;
  TimeOf of = TimeOf::kHost;
};

}  // namespace tandem::simulated
