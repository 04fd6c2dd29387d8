// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/stream_gate.h"

#include "common/runtime/host/host_stream.h"

namespace tandem::host {

StreamGate::StreamGate(Stream& stream) : is_open_(std::make_shared<Word>(0)) {
  host_stream(stream).enqueue(
      {"gate", {}, [word = is_open_] { park_while(*word, 0, Sharing::kThreads); }});
}

void StreamGate::open() {
  is_open_->store(1, std::memory_order_release);
  wake_all(*is_open_, Sharing::kThreads);
}

}  // namespace tandem::host
