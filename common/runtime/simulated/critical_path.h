// SPDX-License-Identifier: Apache-2.0
//
// The critical path of tasks: from a task back to the one that decided when it began, and so on.
// Its stretches follow each other without gaps, so they add up to the time that the tasks took.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/runtime/simulated/task.h"

namespace tandem::simulated {

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

// When tasks end, of which the first has the id `first`, and which of them decided on each one's
// begin; kNobody: an earlier task or none.
struct SolvedTasks {
  std::span<const Task> tasks;
  TaskId first{};
  std::span<const Nanoseconds> ends;  // of all tasks from id 0 on
  std::span<const std::int32_t> deciders;
};

// Adds the path that ends with `last` to the account, back to the first task that an earlier one
// decided on.
void add_critical_path(const SolvedTasks& solved, TaskId last, PathAccount& account);

}  // namespace tandem::simulated
