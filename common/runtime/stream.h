// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "common/base/dispatch_costs.h"
#include "common/base/units.h"
#include "common/runtime/span.h"

namespace tandem {

class Interpreter;  // common/runtime/interpreter.h

// A point in a stream that other streams and the host can wait for. Made by a Device, set by
// Stream::record; a wait for an event that was never recorded ends at once. Not to be recorded from
// two threads at once.
class Event : boost::noncopyable {
 public:
  virtual ~Event() = default;

  // True once the work before the latest record is done (or nothing was recorded).
  [[nodiscard]] virtual bool is_done() const = 0;
};

// An event that also carries the time at which the work before it ended.
class TimedEvent : public Event {
 public:
  // Time from `start` to this event. Both must be recorded, done, and of the same device.
  [[nodiscard]] virtual Nanoseconds since(const TimedEvent& start) const = 0;

  // This event, done, on the clock of Platform::now, in time since its epoch; unset where events
  // give only their distance from one another.
  [[nodiscard]] virtual std::optional<Nanoseconds> on_clock() const { return std::nullopt; }
};

inline Nanoseconds operator-(const TimedEvent& end, const TimedEvent& start) {
  return end.since(start);
}

// The memory that an operation reads and writes, declared before the operation is enqueued. The
// declarations serve two checks: each span must lie on the operation's device (unless declared
// remote), and in the tsan preset each becomes an access that ThreadSanitizer sees, also where a
// library does the work.
struct Access {
  enum class Mode { kRead, kWrite };     // an access in place counts as write
  enum class Place { kLocal, kRemote };  // remote: another device's memory, or the host's

  const void* address = nullptr;
  Bytes size;
  DeviceId device;
  Mode mode = Mode::kRead;
  Place place = Place::kLocal;
};

template <class T>
[[nodiscard]] Access reads(Span<T> s) {
  return {s.data(), s.size_bytes(), s.device(), Access::Mode::kRead, Access::Place::kLocal};
}
template <class T>
[[nodiscard]] Access writes(Span<T> s) {
  return {s.data(), s.size_bytes(), s.device(), Access::Mode::kWrite, Access::Place::kLocal};
}

// Throws a logic error naming `operation` and both devices where a local access lies elsewhere
// than on `device`.
void check_placement(std::string_view operation, DeviceId device, std::span<const Access> accesses);

enum class StreamPriority { kNormal, kHigh };

// A FIFO of work on one device. Nothing runs on the caller's thread. Enqueuing is thread-safe only
// if callers order themselves; different streams may be used from different threads.
//
// An error in queued work surfaces at the next synchronize(); the stream stays failed, and later
// work on it is dropped. On the host, a stream that waits for one of its events fails with the same
// error; on GPUs an error that loses the context fails all streams of its GPU, and no others.
// Destruction waits for queued work.
class Stream : boost::noncopyable {
 public:
  virtual ~Stream() = default;

  [[nodiscard]] virtual DeviceId device() const = 0;

  // `event` stands for all work enqueued here so far. Recording again does not move waits that
  // were enqueued before.
  virtual void record(Event& event) = 0;

  // record() for an observer of the work: where time is simulated it takes none.
  virtual void note(Event& event) { record(event); }

  // Work enqueued here from now on starts after the record of `event` that is current now.
  virtual void wait(const Event& event) = 0;

  // Work enqueued here from now on starts no earlier than `time`. Nobody sleeps at the call.
  virtual void start_after(TimePoint time) = 0;

  // The stream does nothing for this duration before the work enqueued from now on: a planted
  // slowness.
  virtual void delay(Nanoseconds duration) = 0;

  // The calling thread makes `calls` calls on its modelled interpreter, and work enqueued here from
  // now on starts no earlier than their end.
  virtual void dispatch(Interpreter& interpreter, DispatchKind kind, int calls);

  // Blocks until all work is done, on the host parked, on GPUs as the platform's options say;
  // throws the stream's error if it failed.
  virtual void synchronize() = 0;

  // True when nothing is queued or running. Throws like synchronize() once the stream failed.
  [[nodiscard]] virtual bool is_done() = 0;

  // Raw forms behind enqueue_copy and enqueue_zero (copy.h), which check sizes and placement.
  virtual void copy_bytes(ByteSpan destination, ConstByteSpan source) = 0;
  virtual void zero_bytes(ByteSpan destination) = 0;
};

}  // namespace tandem
