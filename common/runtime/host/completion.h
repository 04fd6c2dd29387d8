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

// One record of an event: pending, then done for good. The fields are written before it is done
// and read after it was seen.
//
// Shared by the event (its latest record), the stream that will complete it and the streams that
// wait for it: re-recording the event must not move earlier waits, hence a new one per record.
// Most are waited for by nobody: those are completed without a system call.
struct Completion {
  ModelledTime end;                        // of the work before it, by the model where there is one
  std::shared_ptr<const Failure> failure;  // of the stream that recorded

  [[nodiscard]] bool is_done() const { return state.load(std::memory_order_acquire) == kDone; }

  // Who marks it before complete() is woken by that; who does not sees that it is done.
  void park() {
    std::uint32_t seen = kPending;
    state.compare_exchange_strong(seen, kAwaited, std::memory_order_acq_rel,
                                  std::memory_order_acquire);
    if (seen != kDone) park_while(state, kAwaited, Sharing::kThreads);
  }

  void complete() {
    const std::uint32_t before = state.exchange(kDone, std::memory_order_acq_rel);
    if (before == kAwaited) wake_all(state, Sharing::kThreads);
  }

 private:
  static constexpr std::uint32_t kPending = 0;
  static constexpr std::uint32_t kAwaited = 1;
  static constexpr std::uint32_t kDone = 2;

  Word state{kPending};
};

}  // namespace tandem::host
