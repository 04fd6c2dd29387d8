// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "common/runtime/access.h"
#include "common/runtime/host/completion.h"
#include "common/runtime/stream.h"

namespace tandem::host {

// A unit of queued work with what it reads and writes.
struct Operation {
  const char* name;              // a literal, for errors
  std::vector<Access> accesses;  // all memory that `body` touches
  std::function<void()> body;    // runs on the stream's worker thread
};

struct HostStreamOptions {
  DeviceId device;
  int core = 0;                  // the worker is bound to it
  Nanoseconds largest_delay{0};  // debug: each operation starts late by a random time up to this
  std::uint64_t delay_seed = 0;
  std::function<bool()> leaves_out_wait{};  // debug: asked at each wait; true leaves it out
};

// A worker thread with a FIFO queue, bound to its device's core, parked while idle.
class HostStream final : public Stream {
 public:
  explicit HostStream(const HostStreamOptions& options);
  ~HostStream() override;

  [[nodiscard]] DeviceId device() const override { return options_.device; }
  void record(Event& event) override;
  void wait(const Event& event) override;
  void synchronize() override;
  [[nodiscard]] bool is_done() override;
  void copy_bytes(ByteSpan destination, ConstByteSpan source) override;
  void zero_bytes(ByteSpan destination) override;

  // Checks that local operands lie on this stream's device, then queues.
  void enqueue(Operation operation);

  // Queues a modelled duration: `end_of(ready)` gives the time at which a transfer that could start
  // at `ready` would be over. Nobody sleeps here: the next operation, an event's waiters and
  // synchronize() sleep to it. Modelled durations that follow one another start at modelled ends.
  void enqueue_due(std::function<TimePoint(TimePoint ready)> end_of);

 private:
  using Task = std::function<void()>;

  void push(Task task);
  void carried_out() { pending_.fetch_sub(1, std::memory_order_release); }
  void work();            // the worker's loop
  bool take(Task& task);  // parks while idle; false once closed and drained
  void run(const Operation& operation);
  void delay();
  std::shared_ptr<Completion> enqueue_completion();

  const HostStreamOptions options_;

  std::mutex mutex_;  // guards queue_ and closed_
  std::deque<Task> queue_;
  bool closed_ = false;
  Word idle_{0};  // 1 while the worker is parked, or about to

  // Tasks pushed and not yet carried out. Where it is 0, the worker's own fields below are visible
  // and stay as they are until the next push.
  std::atomic<std::int64_t> pending_{0};

  // The worker's own; others see them through completions only.
  std::shared_ptr<const Failure> failure_;
  TimePoint due_at_{};
  std::mt19937_64 delays_;

  std::latch prepared_{1};  // the worker is bound, or failure_ says why not

  std::thread worker_;  // last: it uses all of the above
};

// The host stream behind a stream; a logic error where it is none.
[[nodiscard]] HostStream& host_stream(Stream& stream);

}  // namespace tandem::host
