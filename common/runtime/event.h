// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/base/clock.h"

namespace tandem {

// A point in a stream that other streams and the host can wait for. Made by a Device, set by
// Stream::record; a wait for an event that was never recorded ends at once. Not to be recorded from
// two threads at once.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  virtual ~Event() = default;

  // True once the work before the latest record is done (or nothing was recorded).
  [[nodiscard]] virtual bool is_done() const = 0;
};

// An event that also carries the time at which the work before it ended.
class TimedEvent : public Event {
 public:
  // Time from `start` to this event. Both must be recorded, done, and of the same device.
  [[nodiscard]] virtual Nanoseconds since(const TimedEvent& start) const = 0;
};

inline Nanoseconds operator-(const TimedEvent& end, const TimedEvent& start) {
  return end.since(start);
}

}  // namespace tandem
