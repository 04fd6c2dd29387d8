// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>

#include "common/runtime/stream.h"

namespace tandem {

// The interpreter that C++ does not have, modelled: a resource that every dispatched call takes for
// `cost`, one after the other. Threads that share one model the interpreter lock. Thread-safe.
class Interpreter {
 public:
  explicit Interpreter(Nanoseconds cost) : cost_(cost) {}
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Takes the interpreter for `calls` calls, from now or from when it is free. Returns the end of
  // the last, before which the operation may not start. Does not wait for it.
  TimePoint dispatch(int calls);

  // Is not free before `other` is: the caller has waited for what that one dispatched.
  void catch_up_with(const Interpreter& other);

  [[nodiscard]] std::int64_t calls() const;  // dispatched so far
  [[nodiscard]] Nanoseconds cost() const { return cost_; }

 private:
  [[nodiscard]] TimePoint free_at() const;

  const Nanoseconds cost_;
  mutable std::mutex mutex_;
  TimePoint free_;
  std::int64_t calls_ = 0;
};

// Takes `interpreter` for `calls` calls, on behalf of what is enqueued on `stream` next.
void dispatch(Interpreter& interpreter, Stream& stream, int calls = 1);

}  // namespace tandem
