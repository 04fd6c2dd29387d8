// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/runtime/device.h"

namespace tandem {

// Whether a timer calls back again.
enum class Tick { kAgain, kLast };

// Called at each tick with the time at which the tick started. Does not throw.
using TimerCallback = std::function<Tick(TimePoint start)>;

// The time at which the next tick may start: a period after the last start, or now where that time
// has passed. So a long tick shortens the sleep behind the tick, and missed ticks are not made up
// for.
[[nodiscard]] constexpr TimePoint next_tick(TimePoint last_start, Nanoseconds period,
                                            TimePoint now) {
  return last_start + period > now ? last_start + period : now;
}

// A thread that calls back periodically, on the machine's own clock: at once, then with starts at
// least `period` apart, until the callback says that it was the last. The thread is bound like a
// thread that calls the device, and parked in between. An exception that the callback lets out ends
// the program.
class Timer {
 public:
  // Returns once the thread is bound to the device; throws where no such thread can be had.
  Timer(Device& device, Nanoseconds period, TimerCallback callback);
  // Lets a callback in progress end, then joins the thread; not to be called on that thread.
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  void work(Device& device) noexcept;
  [[nodiscard]] bool sleep_to(TimePoint time);  // false once the timer is stopped

  const Nanoseconds period_;
  const TimerCallback callback_;
  std::mutex mutex_;  // guards stopped_
  std::condition_variable changed_;
  bool stopped_ = false;
  std::optional<Error> not_bound_;  // written before started_
  std::latch started_{1};
  std::thread thread_;  // last: the thread uses all members above
};

}  // namespace tandem
