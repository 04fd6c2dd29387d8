// SPDX-License-Identifier: Apache-2.0
//
// The schedule of a simulation: tasks are added as streams and host threads would do them, and when
// each ends is settled later, for all tasks at once. Times are whole nanoseconds since the
// simulation's start, and the same tasks always get the same times.
//
// Settled times are final: tasks that are added later compete with one another, not with earlier
// tasks that are still under way then. So settle where the host has waited for all streams, as a
// sample's end does.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulate/engine/task.h"

namespace tandem::simulated {

// The links that the data of one transfer crosses; not empty.
using Path = std::vector<LinkId>;

// The critical path of tasks: from a task back to the one that decided when it began, and so on.
// Its stretches follow each other without gaps, so they add up to the time that the tasks took.

// Nanoseconds by what they are of.
class PathAccount {
 public:
  void add(TimeOf of, Nanoseconds time) { times_[static_cast<std::size_t>(of)] += time; }

  [[nodiscard]] Nanoseconds at(TimeOf of) const { return times_[static_cast<std::size_t>(of)]; }
  [[nodiscard]] Nanoseconds total() const;
  // The share of each kind that there is, by its name; empty where no time passed.
  [[nodiscard]] std::map<std::string, double> shares() const;

 private:
  std::array<Nanoseconds, kTimeNames.size()> times_{};
};

// The index of no task.
inline constexpr std::int32_t kNobody = -1;

struct CollectivePlan {
  int parts = 0;            // how many ranks' parts must have begun
  Nanoseconds duration{0};  // from the last part's begin to the end
};

// The resources that tasks compete for, each by its id.
struct Resources {
  std::vector<Nanoseconds> locks;  // since when each is free
  std::vector<double> links;       // bytes per second
  std::vector<Path> paths;
  std::vector<double> processors;  // how much longer a computation takes beside a collective
  std::vector<CollectivePlan> collectives;
  std::int64_t turns = 0;  // begins and ends that all solves so far looked at
};

// Not thread-safe: all lanes are recorded by one thread.
class Schedule {
 public:
  // A lane whose first task starts once `after` has ended; `name` is for errors.
  [[nodiscard]] LaneId add_lane(std::string name, TaskId after = kNoTask);
  [[nodiscard]] LockId add_lock();
  // Computations take (1 + `contention`) times as long while a collective moves data.
  [[nodiscard]] ProcessorId add_processor(double contention);
  [[nodiscard]] LinkId add_link(double bytes_per_second);
  [[nodiscard]] PathId add_path(Path links);
  [[nodiscard]] CollectiveId add_collective(const CollectivePlan& plan);

  // Adds a task behind the lane's earlier ones; it also waits for `after`. Its time is `of` that.
  TaskId add(LaneId lane, const Work& work, TaskId after = kNoTask, TimeOf of = TimeOf::kHost);

  // The task that was added to the lane last; kNoTask where there is none.
  [[nodiscard]] TaskId last_of(LaneId lane) const { return lanes_[index_of(lane)].last; }

  // The time at which a task ends; 0 for kNoTask. Settles where need be. Throws a logic error,
  // which names a lane, where tasks wait for ever.
  [[nodiscard]] Nanoseconds end_of(TaskId task);

  // The critical paths since the last call: of each settling that which ends with the task whose
  // end was asked for.
  [[nodiscard]] PathAccount take_path_account() { return std::exchange(path_account_, {}); }

  // The cost of settling so far, in begins and ends that it looked at; a task whose rate others
  // change has several ends.
  [[nodiscard]] std::int64_t turns() const { return resources_.turns; }

  // The number of all tasks so far.
  [[nodiscard]] std::int64_t size() const {
    return static_cast<std::int64_t>(ends_.size() + tasks_.size());
  }

 private:
  struct Lane {
    std::string name;
    TaskId last = kNoTask;
  };

  void settle(TaskId asked);

  Resources resources_;
  std::vector<Lane> lanes_;
  std::vector<Task> tasks_;        // the tasks that are not settled, in the order of their ids
  std::vector<Nanoseconds> ends_;  // the ends of all settled tasks, whose ids come first
  PathAccount path_account_;
};

}  // namespace tandem::simulated
