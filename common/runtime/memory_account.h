// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>

#include "common/runtime/device.h"
#include "common/runtime/platform.h"

namespace tandem {

// The memory that a logical device has given out, against its capacity. Thread-safe.
class MemoryAccount {
 public:
  MemoryAccount(DeviceId device, Bytes capacity) : device_(device), use_{capacity, {}, {}} {}

  void charge(Bytes size);  // throws the out-of-memory error
  void release(Bytes size) noexcept;
  [[nodiscard]] MemoryUse use() const;

 private:
  const DeviceId device_;
  mutable std::mutex mutex_;
  MemoryUse use_;
};

// A usage error unless the sizes asked for are none, one for all devices, or one per device.
void check_device_memory(const PlatformOptions& options);

// The capacity asked for device `index`; absent where the device shares the memory that is left.
[[nodiscard]] std::optional<Bytes> asked_memory(const PlatformOptions& options, int index);

}  // namespace tandem
