// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "common/base/inline_function.h"
#include "common/runtime/host/host_event.h"
#include "common/runtime/host/task_queue.h"
#include "common/runtime/host/worker_thread.h"
#include "common/runtime/stream.h"

namespace tandem::host {

// A unit of queued work with the memory that the work reads and writes.
struct Operation {
  const char* name;                  // a literal, for errors
  std::vector<Access> accesses;      // all memory that `body` touches
  InlineFunction<void(), 192> body;  // runs on the stream's worker thread
  // Runs in place of `body` where the stream has failed before, for work that others wait for.
  std::function<void()> dropped{};
};

struct HostStreamOptions {
  DeviceId device;
  int core = 0;                  // core that the worker is bound to
  Nanoseconds largest_delay{0};  // debug: each operation starts late by a random time up to this
  std::uint64_t delay_seed = 0;
  std::function<bool()> leaves_out_wait{};  // debug: asked at each wait; true leaves the wait out
};

// A worker thread with a FIFO queue, bound to its device's core, parked while idle.
class HostStream final : public Stream {
 public:
  explicit HostStream(const HostStreamOptions& options);
  ~HostStream() override;

  [[nodiscard]] DeviceId device() const override { return options_.device; }
  void record(Event& event) override;
  void wait(const Event& event) override;
  void start_after(TimePoint time) override;
  void delay(Nanoseconds duration) override;
  void synchronize() override;
  [[nodiscard]] bool is_done() override;
  void copy_bytes(ByteSpan destination, ConstByteSpan source) override;
  void zero_bytes(ByteSpan destination) override;

  // Checks that local operands lie on this stream's device, then queues the operation.
  void enqueue(Operation operation);

  // The number of tasks queued, waits and records among them, modulo a large power of two.
  [[nodiscard]] std::uint32_t tasks_queued() const { return tasks_.pushed(); }

  // Queues a modelled duration: `end_of(ready)` gives the time at which work that could start at
  // `ready` would be over. No thread sleeps here: the next operation, an event's waiters and
  // synchronize() sleep to this time. Consecutive modelled durations start at modelled ends.
  void enqueue_due(std::function<TimePoint(TimePoint ready)> end_of);

  // Opens and closes a log of the times at which the worker began and ended each task queued after
  // this call. Tasks between pause_log() and resume_log(), which are logged tasks themselves, are
  // left out, since some tasks are shorter than a reading of the clock.
  void open_log();
  void pause_log();
  void resume_log();
  [[nodiscard]] TaskLog close_log();

 private:
  // Queues `work`, then the note that the work is carried out.
  template <class Work>
  void push(Work&& work) {
    auto task = [this, work = std::forward<Work>(work)]() mutable {
      const bool is_logged = log_ && !log_->is_paused();
      if (is_logged) begin_logged();
      work();
      if (is_logged && log_) end_logged();
      tasks_.note_carried_out();
    };
    static_assert(sizeof(task) <= TaskQueue::kTaskRoom, "each task would take memory of its own");
    tasks_.push(std::move(task));
  }
  void work();  // the worker's loop
  void run(Operation& operation);
  // A reading of the clock takes as long as the shortest tasks: one reading is both a task's end
  // and the beginning of the next task where the next task is there already, and an event's own
  // reading serves too.
  void begin_logged() {
    const bool must_look = tasks_.was_awaited() || log_->is_open();
    log_->begin(must_look ? end_of_work() : log_->latest());
  }
  void end_logged() {
    if (tasks_.has_next() && !log_->is_paused()) return log_->leave_open();
    log_->end(end_of_work());
  }
  // The present time, or the end of the work so far where that end is later.
  [[nodiscard]] TimePoint end_of_work() const { return std::max(end_, Clock::now()); }
  void start_late();  // debug
  std::shared_ptr<Completion> enqueue_completion();

  const HostStreamOptions options_;

  TaskQueue tasks_;

  // The members below belong to the worker. Once all tasks are carried out, callers may read these
  // members, which stay unchanged until the next push; other threads see their values through
  // completions only.
  bool closed_ = false;
  std::shared_ptr<const Error> failure_;
  TimePoint end_{};  // the end of the work so far, where a duration is modelled
  std::mt19937_64 delays_;
  std::optional<TaskLog> log_;  // while a log is open

  std::latch prepared_{1};  // the worker is bound, or failure_ says why not

  std::thread worker_;  // last: the worker uses all members above
};

// The host stream behind a stream; throws a logic error where the stream is on another back end.
[[nodiscard]] HostStream& host_stream(Stream& stream);

}  // namespace tandem::host
