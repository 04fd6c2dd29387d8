// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/task_queue.h"

namespace tandem::host {

TaskQueue::TaskQueue() : last_(new Node), current_(last_) {}

TaskQueue::~TaskQueue() {
  delete current_;
  for (Node* list : {unused_, handed_back_.load(std::memory_order_acquire)}) {
    while (list != nullptr) delete std::exchange(list, list->next_unused);
  }
}

TaskQueue::Node& TaskQueue::unused() {
  if (unused_ == nullptr) unused_ = handed_back_.exchange(nullptr, std::memory_order_acquire);
  if (unused_ == nullptr) return *new Node;
  return *std::exchange(unused_, unused_->next_unused);
}

void TaskQueue::append(Node& node) {
  node.next = nullptr;
  last_->next = &node;
  last_ = &node;
  // Publishes the link to the new node.
  if ((announced_.fetch_add(kOne, std::memory_order_acq_rel) & kParked) == 0) return;
  announced_.fetch_and(~kParked, std::memory_order_relaxed);
  wake_all(announced_, Sharing::kThreads);
}

TaskQueue::Node& TaskQueue::take() {
  was_awaited_ = false;
  for (;;) {
    std::uint32_t seen = announced_.load(std::memory_order_acquire);
    if (seen / kOne != taken_) break;
    was_awaited_ = true;
    // A caller that adds a task between the load and the mark makes the exchange fail; a caller
    // that adds a task after the mark sees the mark.
    if ((seen & kParked) == 0 &&
        !announced_.compare_exchange_strong(seen, seen | kParked, std::memory_order_acq_rel)) {
      continue;
    }
    park_while(announced_, seen | kParked, Sharing::kThreads);
  }
  taken_ = (taken_ + 1) % kCounts;
  Node* const before = std::exchange(current_, current_->next);
  hand_back(*before);
  return *current_;
}

void TaskQueue::hand_back(Node& node) {
  node.next_unused = handed_back_.load(std::memory_order_relaxed);
  while (!handed_back_.compare_exchange_weak(node.next_unused, &node, std::memory_order_release,
                                             std::memory_order_relaxed)) {
  }
}

void TaskQueue::run_next() {
  Node& node = take();
  node.task();
  node.task.reset();  // the task's captures are freed here, not when the node is used again
}

}  // namespace tandem::host
