// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/base/error.h"
#include "common/runtime/host/host_link.h"
#include "common/runtime/host/parking.h"

namespace tandem::host {

// Why a stream failed. Immutable once made, so it can be handed from stream to stream.
struct Failure {
  Error error;
};

// One record of an event: pending, then done for good. The fields are written before `done` is set
// and read after it was seen.
//
// Shared by the event (its latest record), the stream that will complete it and the streams that
// wait for it: re-recording the event must not move earlier waits, hence a new one per record.
struct Completion {
  Word done{0};
  ModelledTime end;                        // of the work before it, by the model where there is one
  std::shared_ptr<const Failure> failure;  // of the stream that recorded

  [[nodiscard]] bool is_done() const { return done.load(std::memory_order_acquire) != 0; }

  void park() const { park_while(done, 0, Sharing::kThreads); }

  void complete() {
    done.store(1, std::memory_order_release);
    wake_all(done, Sharing::kThreads);
  }
};

}  // namespace tandem::host
