// SPDX-License-Identifier: Apache-2.0
//
// What a host stream's callers hand to its worker. Neither locks nor, once as many tasks were
// queued as ever are at a time, takes memory for tasks that fit: a step enqueues hundreds of them
// on the core that computes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/base/inline_function.h"
#include "common/runtime/host/parking.h"

namespace tandem::host {

// A FIFO from callers, who order themselves, to one worker.
class TaskQueue {
 public:
  // Bytes of a task that lie in the queue itself.
  static constexpr std::size_t kTaskRoom = 320;
  using Task = InlineFunction<void(), kTaskRoom>;

  TaskQueue();
  ~TaskQueue();  // nothing may be queued any more
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  // Callers'. Wakes the worker where it is parked.
  template <class Function>
  void push(Function&& function) {
    Node& node = unused();
    node.task.emplace(std::forward<Function>(function));
    append(node);
  }

  // Callers': how many were pushed, modulo a large power of two.
  [[nodiscard]] std::uint32_t pushed() const {
    return announced_.load(std::memory_order_relaxed) / kOne;
  }

  // Callers': all tasks have said that they are carried out, and what they wrote is visible.
  [[nodiscard]] bool is_carried_out() const {
    return carried_out_.load(std::memory_order_acquire) == pushed();
  }

  // The worker's: waits for the next task, parked, and runs it.
  void run_next();

  // The worker's, in a task: it was not there yet when the one before it had ended.
  [[nodiscard]] bool was_awaited() const { return was_awaited_; }

  // The worker's, in a task: the next one is there already.
  [[nodiscard]] bool has_next() const {
    return announced_.load(std::memory_order_relaxed) / kOne != taken_;
  }

  // The worker's, once in each task, perhaps before the task ends.
  void note_carried_out() {
    const std::uint32_t count = carried_out_.load(std::memory_order_relaxed) + 1;
    carried_out_.store(count % kCounts, std::memory_order_release);
  }

 private:
  struct Node {
    Task task;
    Node* next = nullptr;         // in the order of calls
    Node* next_unused = nullptr;  // in either list of those to be used again
  };

  // `announced_` counts in steps of two, beside the mark of a parked worker.
  static constexpr std::uint32_t kParked = 1;
  static constexpr std::uint32_t kOne = 2;
  static constexpr std::uint32_t kCounts = 1U << 31;

  [[nodiscard]] Node& unused();
  void append(Node& node);
  [[nodiscard]] Node& take();
  void hand_back(Node& node);

  Word announced_{0};  // tasks that callers have linked; the worker parks on it
  std::atomic<std::uint32_t> carried_out_{0};  // written by the worker alone
  std::atomic<Node*> handed_back_{nullptr};    // from the worker to the callers

  alignas(64) Node* last_;  // callers': the node that was linked last
  Node* unused_ = nullptr;  // callers'

  // The worker's: the node that was run last stays here, for a caller may be linking to it.
  alignas(64) Node* current_;
  std::uint32_t taken_ = 0;
  bool was_awaited_ = false;
};

}  // namespace tandem::host
