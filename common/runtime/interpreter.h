// SPDX-License-Identifier: Apache-2.0
//
// A modelled interpreter: C++ has none, but calls that PyTorch dispatches from Python cost time on
// the dispatching thread, and a lock that threads share makes the threads wait for each other. Here
// an interpreter is a resource with a time at which the interpreter is free; no thread sleeps or
// spins at a call.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "common/base/dispatch_costs.h"
#include "common/runtime/stream.h"

namespace tandem {

// The time at which `calls` calls made at `now`, at `cost` each, are over on an interpreter that is
// free from `free` on: the first call starts at the later of `now` and `free`, each other call
// where the preceding call ended.
[[nodiscard]] TimePoint end_of_calls(TimePoint now, TimePoint free, Nanoseconds cost, int calls);

// One interpreter: a thread's own, or under the modelled lock the interpreter that all threads of a
// process share. Thread-safe.
class Interpreter {
 public:
  explicit Interpreter(const DispatchCosts& costs) : costs_(costs) {}

  // Makes `calls` calls of that kind from now on and returns the time at which the last call is
  // over. Where no kind costs anything, calls are only counted: no clock is read, and the result is
  // the clock's epoch, which has passed.
  TimePoint dispatch(DispatchKind kind, int calls);

  // Counts these calls and returns their cost together: all that an interpreter does where a
  // simulation says when the calls are made.
  Nanoseconds count(DispatchKind kind, int calls);

  // Makes this interpreter free no earlier than `earlier`: called for a thread that another thread
  // starts, or that joins another thread.
  void catch_up_with(const Interpreter& earlier);

  [[nodiscard]] std::int64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  // Whether some kind of call costs something.
  [[nodiscard]] bool takes_time() const { return costs_.any(); }

 private:
  [[nodiscard]] TimePoint free_from() const;

  const DispatchCosts costs_;
  std::atomic<std::int64_t> calls_{0};
  mutable std::mutex mutex_;  // guards free_
  TimePoint free_{};
};

// Charges `calls` calls, and lets work that is enqueued on `stream` from now on start no earlier
// than the calls' end. A kind that costs nothing waits for the calls before it all the same;
// nothing is queued where no kind costs anything.
inline void dispatch(Interpreter& interpreter, Stream& stream, DispatchKind kind, int calls = 1) {
  stream.dispatch(interpreter, kind, calls);
}

}  // namespace tandem
