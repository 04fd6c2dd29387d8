// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "common/runtime/device.h"

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

}  // namespace tandem
