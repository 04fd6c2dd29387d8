// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/device_memory.h"

namespace tandem {

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
