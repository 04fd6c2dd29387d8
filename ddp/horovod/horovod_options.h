// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "common/base/clock.h"
#include "common/base/units.h"

namespace tandem::ddp {

struct HorovodOptions {
  Nanoseconds cycle = std::chrono::milliseconds(1);  // at least, from start to start
  Bytes fusion_threshold = mib(128);                 // 0: every gradient alone
  std::size_t cache_capacity = 1024;                 // tensors; 0: negotiate always
  // The factor by which gradients are divided before the sum; after the sum they are divided by
  // ranks / factor. Positive.
  double predivide_factor = 1;
  // The wait for other ranks' gradients, once this rank's gradients are ready, until a
  // communication error.
  Nanoseconds deadline = std::chrono::seconds(60);
};

}  // namespace tandem::ddp
