// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/span.h"

#include <fmt/format.h>

namespace tandem {

std::string to_string(Backend backend) { return backend == Backend::kHost ? "host" : "cuda"; }

std::string to_string(DeviceId id) {
  if (id.is_host_memory()) return "host memory";
  return fmt::format("{}:{}", to_string(id.backend), id.index);
}

}  // namespace tandem
