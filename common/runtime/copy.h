// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/runtime/device.h"
#include "common/runtime/stream.h"

namespace tandem {

// Copies `source` to `destination` in stream order. Both have the same size; at least one lies on
// the stream's device (a destination pulls, or a source pushes), the other may lie anywhere.
void enqueue_copy_bytes(Stream& stream, ByteSpan destination, ConstByteSpan source);

// Sets `destination`, on the stream's device, to zero in stream order.
void enqueue_zero_bytes(Stream& stream, ByteSpan destination);

template <class T>
void enqueue_copy(Stream& stream, Span<T> destination, std::type_identity_t<Span<const T>> source) {
  enqueue_copy_bytes(stream, as_writable_bytes(destination), as_bytes(source));
}

template <class T>
void enqueue_zero(Stream& stream, Span<T> destination) {
  enqueue_zero_bytes(stream, as_writable_bytes(destination));
}

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
