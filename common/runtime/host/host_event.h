// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/base/error.h"
#include "common/runtime/host/parking.h"
#include "common/runtime/span.h"
#include "common/runtime/stream.h"

namespace tandem::host {

// One record of an event: pending, then done for good. The fields are written before the record is
// done and read after a reader saw that the record is done.
//
// Shared by the event (its latest record), the stream that will complete the record and the streams
// that wait for the record: re-recording the event must not move earlier waits, hence a new
// Completion per record. Most completions have no waiter and are completed without a system call.
struct Completion {
  TimePoint end{};  // end of the preceding work: later than its physical end if modelled
  std::shared_ptr<const Error> failure;  // the recording stream's; immutable, and handed on

  [[nodiscard]] bool is_done() const { return state.load(std::memory_order_acquire) == kDone; }

  // A waiter that marks the state before complete() is woken; a later waiter sees kDone.
  void park() {
    std::uint32_t seen = kPending;
    state.compare_exchange_strong(seen, kAwaited, std::memory_order_acq_rel,
                                  std::memory_order_acquire);
    if (seen != kDone) park_while(state, kAwaited, Sharing::kThreads);
  }

  void complete() {
    const std::uint32_t before = state.exchange(kDone, std::memory_order_acq_rel);
    if (before == kAwaited) wake_all(state, Sharing::kThreads);
  }

 private:
  static constexpr std::uint32_t kPending = 0;
  static constexpr std::uint32_t kAwaited = 1;
  static constexpr std::uint32_t kDone = 2;

  Word state{kPending};
};

// An event of a host device. Every host event is timed: reading the clock costs less than asking
// whether to.
class HostEvent final : public TimedEvent {
 public:
  explicit HostEvent(DeviceId device) : device_(device) {}

  [[nodiscard]] bool is_done() const override;
  [[nodiscard]] Nanoseconds since(const TimedEvent& start) const override;

  [[nodiscard]] std::optional<Nanoseconds> on_clock() const override;

  // The event's device: only streams of this device may record the event, as on CUDA; any stream
  // may wait for the event.
  [[nodiscard]] DeviceId device() const { return device_; }

  // The latest record; null where the event was never recorded.
  [[nodiscard]] const std::shared_ptr<Completion>& latest() const { return latest_; }
  void set_latest(std::shared_ptr<Completion> completion) { latest_ = std::move(completion); }

 private:
  const DeviceId device_;
  std::shared_ptr<Completion> latest_;
};

}  // namespace tandem::host
