// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/kernels/operands.h"
#include "common/runtime/cuda/cuda_device.h"
#include "common/runtime/cuda/cuda_stream.h"

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
    return bytes();
  }

  // What was taken last.
  [[nodiscard]] ByteSpan bytes() const { return taken_.back()->bytes(); }

 private:
  CudaDevice& device_;
  std::vector<std::unique_ptr<Buffer>> taken_;
};

// Queues on `stream` what `launch` does; `all` is the memory that it reads and writes, scratch
// memory with it.
template <class Launch>
void queue(Stream& stream, const char* name, const std::vector<Access>& all, const Launch& launch) {
  check_placement(name, stream.device(), all);
  cuda_stream(stream).enqueue(name, launch);
}

}  // namespace tandem::cuda
