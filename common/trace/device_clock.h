// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/device.h"

namespace tandem {

// Tells when on the host's clock a device's events were. A host device's events carry that
// themselves. A GPU's tell only how long they were before another: one is recorded here, waited
// for, and was between two looks at the host's clock, the closest of a few.
class DeviceClock {
 public:
  // All events that will be asked for are done. Waits for a stream of its own.
  explicit DeviceClock(Device& device);

  // Since the epoch of Clock.
  [[nodiscard]] Nanoseconds at(const TimedEvent& event) const;

  // How far that may be off, either way.
  [[nodiscard]] Nanoseconds error() const { return error_; }

 private:
  std::unique_ptr<TimedEvent> anchor_;  // null: events carry the host's time
  Nanoseconds anchored_{0};
  Nanoseconds error_{0};
};

}  // namespace tandem
