// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/kernels/operands.h"
#include "common/runtime/cuda/cuda_device.h"
#include "common/runtime/cuda/cuda_stream.h"

namespace tandem::cuda {

// Device memory whose size is known only when it is first needed: taken then, and anew in the place
// of what was taken where more is needed than ever before. Not thread-safe.
class GrowingMemory {
 public:
  explicit GrowingMemory(CudaDevice& device) : device_(device) {}

  // At least `size`, the same until more is asked for. `stream` comes behind all that use it.
  [[nodiscard]] ByteSpan at_least(Stream& stream, Bytes size) {
    if (taken_ != nullptr && bytes().size() >= size.value) return bytes();
    if (taken_ != nullptr) stream.synchronize();  // CUDA may free without waiting for its users
    taken_.reset();
    taken_ = device_.allocate(size);
    return bytes();
  }

  // The last piece of scratch memory.
  [[nodiscard]] ByteSpan bytes() const { return taken_->bytes(); }

 private:
  CudaDevice& device_;
  std::unique_ptr<Buffer> taken_;
};

// Queues on `stream` what `launch` does; `all` is the memory that it reads and writes, scratch
// memory with it.
template <class Launch>
void queue(Stream& stream, const char* name, const std::vector<Access>& all, const Launch& launch) {
  check_placement(name, stream.device(), all);
  cuda_stream(stream).enqueue(name, launch);
}

}  // namespace tandem::cuda
