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
  // Gradients are divided by it before they are summed, and by ranks / factor after; positive.
  double predivide_factor = 1;
  // For other ranks' gradients, once this rank's are ready: then a communication error.
  Nanoseconds deadline = std::chrono::seconds(60);
};

}  // namespace tandem::ddp
