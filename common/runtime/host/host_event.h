// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/device_id.h"
#include "common/runtime/event.h"
#include "common/runtime/host/completion.h"

namespace tandem::host {

// An event of a host device. Every host event is timed: reading the clock costs less than asking
// whether to.
class HostEvent final : public TimedEvent {
 public:
  explicit HostEvent(DeviceId device) : device_(device) {}

  [[nodiscard]] bool is_done() const override;
  [[nodiscard]] Nanoseconds since(const TimedEvent& start) const override;

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
