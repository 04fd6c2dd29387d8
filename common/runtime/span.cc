// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/span.h"

#include <fmt/format.h>

namespace tandem {

std::string to_string(Backend backend) {
  switch (backend) {
    case Backend::kHost:
      return "host";
    case Backend::kCuda:
      return "cuda";
    case Backend::kSimulated:
      return "simulated";
  }
  fail(ErrorKind::kLogic, "no such back end");
}

std::string to_string(DeviceId id) {
  if (id.is_host_memory()) return "host memory";
  return fmt::format("{}:{}", to_string(id.backend), id.index);
}

}  // namespace tandem
