// SPDX-License-Identifier: Apache-2.0
#include "bench/observe/stream_gate.h"

#include "common/runtime/host/host_stream.h"

namespace tandem::bench {

StreamGate::StreamGate(Stream& stream) : is_open_(std::make_shared<host::Word>(0)) {
  host::host_stream(stream).enqueue(
      {"gate", {}, [word = is_open_] { host::park_while(*word, 0, host::Sharing::kThreads); }});
}

void StreamGate::open() {
  is_open_->store(1, std::memory_order_release);
  host::wake_all(*is_open_, host::Sharing::kThreads);
}

}  // namespace tandem::bench
