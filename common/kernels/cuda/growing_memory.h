// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "common/runtime/cuda/cuda_device.h"

namespace tandem::cuda {

// Device memory whose size is known only when it is first needed: taken then, and again where more
// is needed than ever before. What was taken stays until the end, for queued work and captured
// graphs know it. Not thread-safe.
class GrowingMemory {
 public:
  explicit GrowingMemory(CudaDevice& device) : device_(device) {}

  // At least `size`, the same until more is asked for.
  [[nodiscard]] ByteSpan at_least(Bytes size) {
    if (taken_.empty() || taken_.back()->bytes().size() < size.value) {
      taken_.push_back(device_.allocate(size));
    }
    return taken_.back()->bytes();
  }

 private:
  CudaDevice& device_;
  std::vector<std::unique_ptr<Buffer>> taken_;
};

}  // namespace tandem::cuda
