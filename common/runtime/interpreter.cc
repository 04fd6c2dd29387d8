// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/interpreter.h"

#include <algorithm>

namespace tandem {

TimePoint Interpreter::dispatch(int calls) {
  const std::lock_guard lock(mutex_);
  calls_ += calls;
  if (cost_ == Nanoseconds{0}) return free_;
  free_ = std::max(Clock::now(), free_) + calls * cost_;
  return free_;
}

void Interpreter::catch_up_with(const Interpreter& other) {
  const TimePoint theirs = other.free_at();
  const std::lock_guard lock(mutex_);
  free_ = std::max(free_, theirs);
}

std::int64_t Interpreter::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

TimePoint Interpreter::free_at() const {
  const std::lock_guard lock(mutex_);
  return free_;
}

void dispatch(Interpreter& interpreter, Stream& /*stream*/, int calls) {
  static_cast<void>(interpreter.dispatch(calls));
}

}  // namespace tandem
