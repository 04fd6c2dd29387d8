// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/timer.h"

#include <utility>

namespace tandem {

namespace {

Nanoseconds checked(Nanoseconds period) {
  TANDEM_CHECK(period >= Nanoseconds{0}, "a timer's period is {} ns", period.count());
  return period;
}

}  // namespace

Timer::Timer(Device& device, Nanoseconds period, TimerCallback callback)
    : period_(checked(period)),
      callback_(std::move(callback)),
      thread_([this, &device] { work(device); }) {
  started_.wait();
  if (!not_bound_) return;
  thread_.join();
  throw Error(*not_bound_);
}

Timer::~Timer() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Timer::work(Device& device) noexcept {
  not_bound_ = capture_error([&] { device.bind_this_thread(); });
  const bool bound = !not_bound_;  // read now, as the maker may be gone once told of a failure
  started_.count_down();
  if (!bound) return;
  for (TimePoint start = Clock::now(); sleep_to(start);
       start = next_tick(start, period_, Clock::now())) {
    start = Clock::now();
    if (callback_(start) == Tick::kLast) return;
  }
}

bool Timer::sleep_to(TimePoint time) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, time, [this] { return stopped_; });
  return !stopped_;
}

}  // namespace tandem
