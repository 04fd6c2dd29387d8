// SPDX-License-Identifier: Apache-2.0
//
// An interpreter, modelled: C++ has none, but what PyTorch dispatches from Python costs time on the
// thread that dispatches it, and a lock that threads share makes them wait for each other. Here an
// interpreter is a resource with a time at which it is free; nobody sleeps or spins at a call.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "common/runtime/stream.h"

namespace tandem {

// When `calls` calls that are made at `now`, at `cost` each, are over on an interpreter that is
// free from `free` on: the first starts at the later of the two, each other one where the last
// ended.
[[nodiscard]] TimePoint end_of_calls(TimePoint now, TimePoint free, Nanoseconds cost, int calls);

// One interpreter: a thread's own, or under the modelled lock the one that all threads of a process
// share. Thread-safe.
class Interpreter {
 public:
  explicit Interpreter(Nanoseconds cost) : cost_(cost) {}

  // Makes `calls` calls from now on and returns when the last is over. At cost 0 they are counted
  // and nothing else: no clock is read, and the result is the clock's epoch, which has passed.
  TimePoint dispatch(int calls);

  // What a thread does that another one starts, or that joins another: free no earlier than it.
  void catch_up_with(const Interpreter& earlier);

  [[nodiscard]] std::int64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  [[nodiscard]] Nanoseconds cost() const { return cost_; }

 private:
  [[nodiscard]] TimePoint free_from() const;

  const Nanoseconds cost_;
  std::atomic<std::int64_t> calls_{0};
  mutable std::mutex mutex_;  // guards free_
  TimePoint free_{};
};

// Charges `calls` calls, and lets what is enqueued on `stream` from now on start no earlier than
// they are over. Nothing is queued at cost 0.
void dispatch(Interpreter& interpreter, Stream& stream, int calls = 1);

}  // namespace tandem
