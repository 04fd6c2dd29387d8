// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/host/parking.h"
#include "common/runtime/stream.h"

namespace tandem::bench {

// Holds up a host stream until it is opened, so that what is queued behind it starts when it is
// all there: host thread and stream share a core, and time spent on queueing is not the work's.
class StreamGate {
 public:
  // Work that is enqueued from now on waits.
  explicit StreamGate(Stream& stream);
  ~StreamGate() { open(); }
  StreamGate(const StreamGate&) = delete;
  StreamGate& operator=(const StreamGate&) = delete;

  // From then on it does not. Once is enough.
  void open();

 private:
  const std::shared_ptr<host::Word> is_open_;  // the stream may look at it after this has gone
};

}  // namespace tandem::bench
