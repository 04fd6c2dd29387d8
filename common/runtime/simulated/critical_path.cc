// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/simulated/critical_path.h"

#include <algorithm>
#include <numeric>

namespace tandem::simulated {

Nanoseconds PathAccount::total() const {
  return std::accumulate(times_.begin(), times_.end(), Nanoseconds{0});
}

std::map<std::string, double> PathAccount::shares() const {
  std::map<std::string, double> shares;
  const auto all = static_cast<double>(total().count());
  for (std::size_t i = 0; i < times_.size(); ++i) {
    if (times_[i] == Nanoseconds{0}) continue;
    shares[std::string(kTimeNames[i])] = static_cast<double>(times_[i].count()) / all;
  }
  return shares;
}

void add_critical_path(const SolvedTasks& solved, TaskId last, PathAccount& account) {
  const auto end_of = [&](TaskId task) {
    return task == kNoTask ? Nanoseconds{0} : solved.ends[index_of(task)];
  };
  auto task = static_cast<std::int32_t>(index_of(last) - index_of(solved.first));
  while (task != kNobody) {
    const Task& one = solved.tasks[static_cast<std::size_t>(task)];
    const TaskId id = static_cast<TaskId>(static_cast<std::int64_t>(solved.first) + task);
    const std::int32_t decider = solved.deciders[static_cast<std::size_t>(task)];
    const Nanoseconds begin =
        decider == kNobody
            ? std::max(end_of(one.before), end_of(one.after))
            : end_of(static_cast<TaskId>(static_cast<std::int64_t>(solved.first) + decider));
    account.add(one.of, end_of(id) - begin);
    task = decider;
  }
}

}  // namespace tandem::simulated
