// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/memory_account.h"

#include <algorithm>

#include "common/base/error.h"

namespace tandem {

void MemoryAccount::charge(Bytes size) {
  const std::lock_guard lock(mutex_);
  if (use_.used + size > use_.capacity) {
    fail(ErrorKind::kOutOfMemory,
         "{} is out of memory: {} asked, {} of {} left; use a smaller model or batch, or raise "
         "--device-memory",
         to_string(device_), to_string(size), to_string(use_.capacity - use_.used),
         to_string(use_.capacity));
  }
  use_.used += size;
  use_.peak = std::max(use_.peak, use_.used);
  ++use_.allocations;
}

void MemoryAccount::release(Bytes size) noexcept {
  const std::lock_guard lock(mutex_);
  use_.used -= size;
}

MemoryUse MemoryAccount::use() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

void check_device_memory(const PlatformOptions& options) {
  const std::size_t sizes = options.device_memory.size();
  if (sizes <= 1 || sizes == static_cast<std::size_t>(options.devices)) return;
  fail(ErrorKind::kUsage,
       "--device-memory: {} sizes for {} device{}: give one for all of them, or one for each",
       sizes, options.devices, options.devices == 1 ? "" : "s");
}

std::optional<Bytes> asked_memory(const PlatformOptions& options, int index) {
  const std::vector<Bytes>& sizes = options.device_memory;
  if (sizes.empty()) return std::nullopt;
  return sizes.size() == 1 ? sizes.front() : sizes.at(static_cast<std::size_t>(index));
}

}  // namespace tandem
