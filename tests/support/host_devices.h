// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/parallel/replica.h"
#include "common/runtime/copy.h"
#include "common/runtime/host/host_platform.h"

namespace tandem::test {

// Logical host devices, as many as wanted on however few cores.
[[nodiscard]] inline std::unique_ptr<Platform> host_devices(int count) {
  PlatformOptions options;
  options.devices = count;
  options.oversubscribe = true;
  return host::make_host_platform(options);
}

// The host's own memory as a span.
[[nodiscard]] inline Span<float> on_host(std::vector<float>& values) {
  return {values.data(), static_cast<std::int64_t>(values.size()), DeviceId{}};
}

// Copies values to a device and waits for it.
inline void put(Device& device, Span<float> to, std::vector<float> values) {
  const auto stream = device.make_stream(StreamPriority::kNormal);
  enqueue_copy(*stream, to, on_host(values));
  stream->synchronize();
}

}  // namespace tandem::test
