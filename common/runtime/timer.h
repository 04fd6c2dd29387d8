// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "common/base/units.h"
#include "common/runtime/device.h"

namespace tandem {

// Whether a timer calls back again.
enum class Tick { kAgain, kLast };

// Called at each tick with the time at which the tick started. Does not throw.
using TimerCallback = std::function<Tick(TimePoint start)>;

// A thread of a device that calls back periodically, made by a Platform. Destruction lets a
// callback in progress end, then joins the thread, so destruction must not happen on that thread.
class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  virtual ~Timer() = default;
};

// The time at which the next tick may start: a period after the last start, or now where that time
// has passed. So a long tick shortens the sleep behind the tick, and missed ticks are not made up
// for.
[[nodiscard]] constexpr TimePoint next_tick(TimePoint last_start, Nanoseconds period,
                                            TimePoint now) {
  return last_start + period > now ? last_start + period : now;
}

// Makes a timer on the machine's own clock, for every platform that runs in real time. Returns once
// the timer's thread is bound to the device; throws where no such thread can be had.
[[nodiscard]] std::unique_ptr<Timer> make_thread_timer(Device& device, Nanoseconds period,
                                                       TimerCallback callback);

}  // namespace tandem
