// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/device_needs.h"

#include "common/base/error.h"

namespace tandem::cuda {

void check_precision(Precision precision, int capability, std::string_view gpu) {
  constexpr int kNeeded = 80;
  if (precision == Precision::kFp32 || capability >= kNeeded) return;
  fail(ErrorKind::kUsage,
       "--precision={}: {} has compute capability {}.{}, and {} came with {}.{}: take "
       "--precision=fp32",
       name_of(precision), gpu, capability / 10, capability % 10, name_of(precision), kNeeded / 10,
       kNeeded % 10);
}

Bytes workspace_size(int capability) {
  constexpr int kHopper = 90;
  return capability >= kHopper ? mib(32) : mib(4);
}

}  // namespace tandem::cuda
