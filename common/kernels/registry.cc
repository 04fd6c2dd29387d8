// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/host_operations.h"
#include "common/kernels/operations.h"

namespace tandem {

std::unique_ptr<Operations> make_operations(Device& device) {
  switch (device.id().backend) {
    case Backend::kHost:
      return std::make_unique<host::HostOperations>(device);
    case Backend::kCuda:
      fail(ErrorKind::kUsage,
           "operations for {}: the CUDA operations are not part of this version; run with "
           "--backend=host",
           to_string(device.id()));
  }
  fail(ErrorKind::kLogic, "no such back end");
}

}  // namespace tandem
