// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/device.h"

namespace tandem {

// Tells when on the host's clock a device's events were. A host device's events carry the host's
// time. A GPU's events tell only their distance from another event, so one event is recorded here,
// waited for, and placed between two readings of the host's clock, the closest pair of a few.
class DeviceClock {
 public:
  // Every event that at() will be asked for must be done. Waits for a stream of its own.
  explicit DeviceClock(Device& device);

  // The event's time since the epoch of Clock.
  [[nodiscard]] Nanoseconds at(const TimedEvent& event) const;

  // The bound of the error of at(), either way.
  [[nodiscard]] Nanoseconds error() const { return error_; }

 private:
  std::unique_ptr<TimedEvent> anchor_;  // null: events carry the host's time
  Nanoseconds anchored_{0};
  Nanoseconds error_{0};
};

}  // namespace tandem
