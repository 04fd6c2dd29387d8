// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/runtime/event.h"
#include "common/runtime/span.h"
#include "common/runtime/stream_graph.h"

namespace tandem {

enum class StreamPriority { kNormal, kHigh };

// A FIFO of work on one device. Nothing runs on the caller's thread. Enqueuing is thread-safe only
// if callers order themselves; different streams may be used from different threads.
//
// An error in queued work surfaces at the next synchronize(); the stream stays failed, later work
// on it is dropped, and a stream that waits for one of its events fails with the same error.
// Destruction waits for queued work.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  [[nodiscard]] virtual DeviceId device() const = 0;

  // `event` stands for all work enqueued here so far. Recording again does not move waits that
  // were enqueued before.
  virtual void record(Event& event) = 0;

  // Work enqueued here from now on starts after the record of `event` that is current now.
  virtual void wait(const Event& event) = 0;

  // Work enqueued here from now on starts no earlier than `time`. Nobody sleeps at the call.
  virtual void start_after(TimePoint time) = 0;

  // The stream does nothing for this duration before the work enqueued from now on: a planted
  // slowness.
  virtual void delay(Nanoseconds duration) = 0;

  // Blocks (parked, not spinning) until all work is done; throws the stream's error if it failed.
  virtual void synchronize() = 0;

  // True when nothing is queued or running. Throws like synchronize() once the stream failed.
  [[nodiscard]] virtual bool is_done() = 0;

  // Captures as a graph, without running, the work that `enqueue` gives this stream, and the
  // device's streams that wait for this stream's events and are waited for in turn. Within
  // `enqueue`, nothing may take or free memory, make the host wait or ask for an event; timed
  // events tell their times after each replay. Where the capture is spoiled, throws a failure that
  // names the call, and the device's streams have failed with the same error, since their work is
  // lost. Throws a usage error where there are no graphs.
  [[nodiscard]] virtual std::unique_ptr<StreamGraph> capture(const std::function<void()>& enqueue) {
    static_cast<void>(enqueue);
    fail(ErrorKind::kUsage, "{}: streams are captured on the CUDA back end alone",
         to_string(device()));
  }

  // Raw forms behind enqueue_copy and enqueue_zero (copy.h), which check sizes and placement.
  virtual void copy_bytes(ByteSpan destination, ConstByteSpan source) = 0;
  virtual void zero_bytes(ByteSpan destination) = 0;
};

}  // namespace tandem
