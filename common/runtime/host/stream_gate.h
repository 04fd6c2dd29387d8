// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <memory>

#include "common/runtime/host/host_stream.h"
#include "common/runtime/host/parking.h"
#include "common/runtime/stream.h"

namespace tandem::host {

// Holds up a host stream until the gate is opened, so that queued work starts when all of the work
// is queued: host thread and stream share a core, and time spent on queueing is not the work's.
class StreamGate : boost::noncopyable {
 public:
  // Work that is enqueued on `stream` from now on waits.
  explicit StreamGate(Stream& stream) {
    host_stream(stream).enqueue(
        {"gate", {}, [word = is_open_] { park_while(*word, 0, Sharing::kThreads); }});
  }
  ~StreamGate() { open(); }

  // Lets the waiting work start. To be called once.
  void open() {
    is_open_->store(1, std::memory_order_release);
    wake_all(*is_open_, Sharing::kThreads);
  }

 private:
  // The stream may read the word later than the gate.
  const std::shared_ptr<Word> is_open_ = std::make_shared<Word>(0);
};

}  // namespace tandem::host
