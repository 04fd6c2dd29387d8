// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#include "common/base/units.h"

namespace tandem::host {

// Makes the calling thread fit to compute for a device: bound to the core, one OpenMP thread (which
// is oneDNN's thread count), denormals flushed, timers precise. Call before any library.
void prepare_worker_thread(int core);

// The times at which a stream's worker began and ended its tasks, from some task on, as a timeline
// needs these times. One thread at a time.
class TaskLog {
 public:
  TaskLog() = default;
  explicit TaskLog(TimePoint opened) : opened_(opened) {}

  void pause() { is_paused_ = true; }
  void resume() { is_paused_ = false; }
  [[nodiscard]] bool is_paused() const { return is_paused_; }

  // Begins a task; ends the preceding task as well, where that task is open.
  void begin(TimePoint time) {
    if (std::exchange(is_open_, false)) tasks_.back().end = time;
    tasks_.push_back({time, time});
  }
  void leave_open() { is_open_ = true; }
  [[nodiscard]] bool is_open() const { return is_open_; }
  void end(TimePoint time) { tasks_.back().end = time; }

  // The end of the last task, which must not be open, or the opening of the log.
  [[nodiscard]] TimePoint latest() const { return after(tasks_.size()); }

  // The time before the `index`-th task since the log was opened, from 0; the time after the last
  // task where there is no such task.
  [[nodiscard]] TimePoint before(std::size_t index) const {
    return index < tasks_.size() ? tasks_[index].begin : after(tasks_.size());
  }

  // The time after the first `count` tasks, all logged; with a count of 0 the opening of the log.
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
  bool is_open_ = false;     // the last task ends where the next task begins
  std::deque<Times> tasks_;  // never moves its elements, which would cost measured time
};

}  // namespace tandem::host
