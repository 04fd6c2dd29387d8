// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "common/base/clock.h"

namespace tandem::host {

// When a stream's worker began and ended its tasks, from some task on: what a timeline needs, and
// no task more. One thread at a time.
class TaskLog {
 public:
  TaskLog() = default;
  explicit TaskLog(TimePoint opened) : opened_(opened) {}

  void pause() { is_paused_ = true; }
  void resume() { is_paused_ = false; }
  [[nodiscard]] bool is_paused() const { return is_paused_; }

  // Ends the task before it as well, where that is open.
  void begin(TimePoint time) {
    if (std::exchange(is_open_, false)) tasks_.back().end = time;
    tasks_.push_back({time, time});
  }
  void leave_open() { is_open_ = true; }
  [[nodiscard]] bool is_open() const { return is_open_; }
  void end(TimePoint time) { tasks_.back().end = time; }

  // The end of the last one, which is not open, or the opening.
  [[nodiscard]] TimePoint latest() const { return after(tasks_.size()); }

  // Before the task that was the `index`-th since it was opened, from 0; after the last one that
  // there is, where there is none.
  [[nodiscard]] TimePoint before(std::size_t index) const {
    return index < tasks_.size() ? tasks_[index].begin : after(tasks_.size());
  }

  // After the first `count` tasks, which there are; of none when it was opened.
  [[nodiscard]] TimePoint after(std::size_t count) const {
    return count == 0 ? opened_ : tasks_[count - 1].end;
  }

 private:
  struct Times {
    TimePoint begin;
    TimePoint end;
  };

  TimePoint opened_;
  bool is_paused_ = false;
  bool is_open_ = false;     // the last task has ended, with the beginning of the next
  std::deque<Times> tasks_;  // never moved: the worker's time is measured
};

}  // namespace tandem::host
