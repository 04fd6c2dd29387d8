// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "common/runtime/device.h"
#include "common/runtime/host/host_stream.h"

namespace tandem {

// Tells when on the host's clock a device's events were. A host device's events carry the host's
// time, and simulated ones that of their simulation. A GPU's events tell only their distance from
// another event, so one event is recorded here, waited for, and placed between two readings of the
// host's clock, the closest pair of a few.
class DeviceClock {
 public:
  // Every event that at() will be asked for must be done. Waits for a stream of its own.
  explicit DeviceClock(Device& device);

  // The event's time since the epoch of Clock.
  [[nodiscard]] Nanoseconds at(const TimedEvent& event) const;

  // The bound of the error of at(), either way.
  [[nodiscard]] Nanoseconds error() const { return error_; }

 private:
  std::unique_ptr<TimedEvent> anchor_;  // null: events are on the clock themselves
  Nanoseconds anchored_{0};
  Nanoseconds error_{0};
};

// A point in a stream's work.
struct Moment {
  enum class Side { kAtEvent, kBeforeNext, kAfterLast };

  Side side = Side::kAtEvent;
  std::uint32_t tasks = 0;  // tasks of the log before the moment, where there is no event
  std::shared_ptr<TimedEvent> event{};  // the event where there is no log
};

// Takes moments of one stream, and tells afterwards when the moments were. Moments are events in
// stream order, but between phases a host stream's worker keeps a log of its tasks instead: an
// event is a task of its own, which wakes the worker and runs on the worker's core, as much work as
// the smallest operations are. One thread at a time.
class StreamMoments {
 public:
  // From here on, work that is queued on `stream` is logged, where logging is possible.
  StreamMoments(Device& device, Stream& stream);

  // The moment where a phase begins, or a step ends.
  [[nodiscard]] Moment at_event();
  // The moments before the work that is queued next, and after the work that was queued last. With
  // nothing between the two moments both are one, after the last work.
  [[nodiscard]] Moment before_next();
  [[nodiscard]] Moment after_last();

  // The moments before and after a row of tiny pieces of work within which no moment is asked for.
  [[nodiscard]] Moment before_row();
  [[nodiscard]] Moment after_row();

  // Ends the log, for at(). The stream must be synchronised.
  void close();

  // The moment's time since the epoch of Clock.
  [[nodiscard]] Nanoseconds at(const Moment& moment, const DeviceClock& clock) const;

 private:
  [[nodiscard]] Moment moment(Moment::Side side);
  [[nodiscard]] Moment noted();
  [[nodiscard]] host::HostStream& host() const { return host::host_stream(stream_); }

  Device& device_;
  Stream& stream_;
  const bool is_logged_;
  std::uint32_t unlogged_ = 0;  // tasks that were queued before the log began, and in rows
  std::uint32_t paused_ = 0;    // tasks that were queued when the latest row began
  host::TaskLog log_;           // set by close()
};

}  // namespace tandem
