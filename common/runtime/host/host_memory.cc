// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/host_memory.h"

#include <algorithm>

#include "common/runtime/host/available_memory.h"
#include "common/runtime/host/host_buffer.h"
#include "common/runtime/host/shared_mapping.h"

namespace tandem::host {

std::unique_ptr<Buffer> allocate_host_memory(Bytes size) {
  const Bytes left = available_memory();
  if (size > left) {
    fail(ErrorKind::kOutOfMemory,
         "the host is out of memory: {} asked, {} left; use a smaller batch", to_string(size),
         to_string(left));
  }
  const std::shared_ptr<SharedMapping> mapping = SharedMapping::create(std::max(size, Bytes{1}));
  const DeviceId host{Backend::kHost, DeviceId::kHostMemory};
  return std::make_unique<HostBuffer>(ByteSpan(mapping->data(), size.value, host), mapping,
                                      nullptr);
}

}  // namespace tandem::host
