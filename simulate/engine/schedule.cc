// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/schedule.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "common/base/error.h"
#include "simulate/engine/solver.h"

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

namespace {

// The id of an element that is added at the end of a list.
template <class Id, class T>
Id add_to(std::vector<T>& list, T element) {
  list.push_back(std::move(element));
  return static_cast<Id>(list.size() - 1);
}

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

}  // namespace

LaneId Schedule::add_lane(std::string name, TaskId after) {
  const auto lane = add_to<LaneId>(lanes_, Lane{std::move(name), kNoTask});
  if (after != kNoTask) add(lane, Pause{}, after);
  return lane;
}

LockId Schedule::add_lock() { return add_to<LockId>(resources_.locks, Nanoseconds{0}); }

ProcessorId Schedule::add_processor(double contention) {
  TANDEM_CHECK(contention >= 0, "a contention of {}", contention);
  return add_to<ProcessorId>(resources_.processors, contention);
}

LinkId Schedule::add_link(double bytes_per_second) {
  TANDEM_CHECK(bytes_per_second > 0, "a link of {} bytes per second", bytes_per_second);
  return add_to<LinkId>(resources_.links, bytes_per_second);
}

PathId Schedule::add_path(Path links) {
  TANDEM_CHECK(!links.empty(), "a path without links");
  return add_to<PathId>(resources_.paths, std::move(links));
}

CollectiveId Schedule::add_collective(const CollectivePlan& plan) {
  TANDEM_CHECK(plan.parts > 0, "a collective of {} ranks", plan.parts);
  return add_to<CollectiveId>(resources_.collectives, plan);
}

TaskId Schedule::add(LaneId lane, const Work& work, TaskId after, TimeOf of) {
  const auto task = static_cast<TaskId>(size());
  TANDEM_CHECK(after < task, "a task behind task {}, which is none yet",
               static_cast<std::int64_t>(after));
  TaskId& last = lanes_[index_of(lane)].last;
  tasks_.push_back({lane, last, after, work, of});
  last = task;
  return task;
}

Nanoseconds Schedule::end_of(TaskId task) {
  if (task == kNoTask) return Nanoseconds{0};
  if (index_of(task) >= ends_.size()) settle(task);
  return ends_.at(index_of(task));
}

void Schedule::settle(TaskId asked) {
  const auto first = static_cast<TaskId>(ends_.size());
  std::vector<std::int32_t> deciders;
  const auto stuck = solve(tasks_, resources_, ends_, deciders);
  if (stuck) {
    fail(ErrorKind::kLogic, "simulated {}: waits for ever, in a collective that lacks a rank",
         lanes_[index_of(*stuck)].name);
  }
  add_critical_path({tasks_, first, ends_, deciders}, asked, path_account_);
  tasks_.clear();
}

}  // namespace tandem::simulated
