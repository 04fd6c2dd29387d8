// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/interpreter.h"

#include <algorithm>

namespace tandem {

TimePoint end_of_calls(TimePoint now, TimePoint free, Nanoseconds cost, int calls) {
  return std::max(now, free) + cost * calls;
}

TimePoint Interpreter::dispatch(DispatchKind kind, int calls) {
  count(kind, calls);
  if (!takes_time()) return {};
  const std::lock_guard lock(mutex_);
  // The clock is read under the lock: otherwise a thread that was held up in between would make
  // calls in the past.
  free_ = end_of_calls(Clock::now(), free_, costs_.of(kind), calls);
  return free_;
}

Nanoseconds Interpreter::count(DispatchKind kind, int calls) {
  calls_.fetch_add(calls, std::memory_order_relaxed);
  return costs_.of(kind) * calls;
}

void Interpreter::catch_up_with(const Interpreter& earlier) {
  // Read before taking this lock, as two threads may catch up crosswise.
  const TimePoint from = earlier.free_from();
  const std::lock_guard lock(mutex_);
  free_ = std::max(free_, from);
}

TimePoint Interpreter::free_from() const {
  const std::lock_guard lock(mutex_);
  return free_;
}

}  // namespace tandem
