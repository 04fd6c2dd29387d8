// SPDX-License-Identifier: Apache-2.0
//
// The tasks that a host stream's callers hand to its worker. The queue takes no lock and, once it
// has held as many tasks as ever at a time, no memory for tasks that fit: a step enqueues hundreds
// of tasks on the core that computes.
#pragma once

#include <atomic>
#include <boost/noncopyable.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/base/inline_function.h"
#include "common/runtime/host/parking.h"

namespace tandem::host {

// A FIFO queue from callers, who order themselves, to one worker.
class TaskQueue : boost::noncopyable {
 public:
  // Bytes of a task that fit in the queue itself.
  static constexpr std::size_t kTaskRoom = 320;
  using Task = InlineFunction<void(), kTaskRoom>;

  TaskQueue();
  ~TaskQueue();  // no task may be queued any more

  // Callers only: adds a task and wakes the worker where the worker is parked.
  template <class Function>
  void push(Function&& function) {
    Node& node = unused();
    node.task.emplace(std::forward<Function>(function));
    append(node);
  }

  // Callers only: the number of tasks pushed, modulo a large power of two.
  [[nodiscard]] std::uint32_t pushed() const {
    return announced_.load(std::memory_order_relaxed) / kOne;
  }

  // Callers only: whether all tasks have noted that they are carried out; the tasks' writes are
  // then visible.
  [[nodiscard]] bool is_carried_out() const {
    return carried_out_.load(std::memory_order_acquire) == pushed();
  }

  // The worker only: waits, parked, for the next task, and runs the task.
  void run_next();

  // The worker only, in a task: whether the task was not there yet when the preceding task had
  // ended.
  [[nodiscard]] bool was_awaited() const { return was_awaited_; }

  // The worker only, in a task: whether the next task is there already.
  [[nodiscard]] bool has_next() const {
    return announced_.load(std::memory_order_relaxed) / kOne != taken_;
  }

  // The worker only: called once in each task, perhaps before the task ends.
  void note_carried_out() {
    const std::uint32_t count = carried_out_.load(std::memory_order_relaxed) + 1;
    carried_out_.store(count % kCounts, std::memory_order_release);
  }

 private:
  struct Node {
    Task task;
    Node* next = nullptr;         // in the order of calls
    Node* next_unused = nullptr;  // in either list of nodes to be used again
  };

  // `announced_` counts in steps of two, as the lowest bit marks a parked worker.
  static constexpr std::uint32_t kParked = 1;
  static constexpr std::uint32_t kOne = 2;
  static constexpr std::uint32_t kCounts = 1U << 31;

  [[nodiscard]] Node& unused();
  void append(Node& node);
  [[nodiscard]] Node& take();
  void hand_back(Node& node);

  Word announced_{0};  // tasks that callers have linked; the worker parks on this word
  std::atomic<std::uint32_t> carried_out_{0};  // written by the worker alone
  std::atomic<Node*> handed_back_{nullptr};    // nodes from the worker to the callers

  alignas(64) Node* last_;  // callers' member: the node that was linked last
  Node* unused_ = nullptr;  // callers' member

  // The worker's members follow. The node that was run last stays here, for a caller may be linking
  // to this node.
  alignas(64) Node* current_;
  std::uint32_t taken_ = 0;
  bool was_awaited_ = false;
};

}  // namespace tandem::host
