// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/device.h"
#include "common/runtime/stream.h"

namespace tandem {

// Two timed events of a device: the time that a stream of the device takes from one point of its
// work to another, by the device's own clock. May be used again and again, for one stretch at a
// time.
class EventPair {
 public:
  explicit EventPair(Device& device)
      : begin_(device.make_timed_event()), end_(device.make_timed_event()) {}

  // Enqueues `work` between the two events.
  template <class Work>
  void around(Stream& stream, const Work& work) {
    stream.record(*begin_);
    work();
    stream.record(*end_);
  }

  // The event before the work, for other streams to wait for.
  [[nodiscard]] const Event& begin() const { return *begin_; }

  // The time between the events; synchronise the stream first.
  [[nodiscard]] Nanoseconds time() const { return *end_ - *begin_; }

 private:
  std::unique_ptr<TimedEvent> begin_;
  std::unique_ptr<TimedEvent> end_;
};

}  // namespace tandem
