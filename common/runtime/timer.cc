// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/timer.h"

#include <condition_variable>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/base/error.h"

namespace tandem {

namespace {

class ThreadTimer final : public Timer {
 public:
  ThreadTimer(Device& device, Nanoseconds period, TimerCallback callback)
      : period_(period),
        callback_(std::move(callback)),
        thread_([this, &device] { work(device); }) {
    started_.wait();
    if (!not_bound_) return;
    thread_.join();
    throw Error(*not_bound_);
  }

  ~ThreadTimer() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  // An exception that the callback lets out ends the program.
  void work(Device& device) noexcept {
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

  // Returns false once the timer is stopped.
  bool sleep_to(TimePoint time) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, time, [this] { return stopped_; });
    return !stopped_;
  }

  const Nanoseconds period_;
  const TimerCallback callback_;
  std::mutex mutex_;  // guards stopped_
  std::condition_variable changed_;
  bool stopped_ = false;
  std::optional<Error> not_bound_;  // written before started_
  std::latch started_{1};
  std::thread thread_;  // last: the thread uses all members above
};

}  // namespace

std::unique_ptr<Timer> make_thread_timer(Device& device, Nanoseconds period,
                                         TimerCallback callback) {
  TANDEM_CHECK(period >= Nanoseconds{0}, "a timer's period is {} ns", period.count());
  return std::make_unique<ThreadTimer>(device, period, std::move(callback));
}

}  // namespace tandem
