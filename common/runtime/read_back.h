// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/runtime/copy.h"
#include "common/runtime/device.h"

namespace tandem {

// Copies device memory to the host. Waits for the copy, not for other streams: synchronise the
// streams that write `span` first.
template <class T>
[[nodiscard]] std::vector<T> read_back(Device& device, Span<const T> span) {
  std::vector<T> values(static_cast<std::size_t>(span.size()));
  const DeviceId host{device.id().backend, DeviceId::kHostMemory};
  const auto stream = device.make_stream(StreamPriority::kNormal);
  enqueue_copy(*stream, Span<T>(values.data(), span.size(), host), span);
  stream->synchronize();
  return values;
}

}  // namespace tandem
