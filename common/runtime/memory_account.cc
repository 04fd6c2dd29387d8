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

}  // namespace tandem
