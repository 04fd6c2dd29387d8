// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <utility>
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
    return taken_.back()->bytes();
  }

 private:
  CudaDevice& device_;
  std::vector<std::unique_ptr<Buffer>> taken_;
};

// Checks the operation and queues what `launch` does on its stream. `scratch`: memory that it uses
// beside its operands, declared as written.
template <class Op, class Launch>
void queue(Stream& stream, const char* name, const Op& op, std::initializer_list<ByteSpan> scratch,
           const Launch& launch) {
  check_sizes(op);
  std::vector<Access> all = accesses(op);
  for (const ByteSpan& memory : scratch) all.push_back(writes(memory));
  check_placement(name, stream.device(), all);
  cuda_stream(stream).enqueue(name, launch);
}

template <class Op, class Launch>
void queue(Stream& stream, const char* name, const Op& op, ByteSpan scratch, const Launch& launch) {
  queue(stream, name, op, {scratch}, launch);
}

template <class Op, class Launch>
void queue(Stream& stream, const char* name, const Op& op, const Launch& launch) {
  queue(stream, name, op, {}, launch);
}

}  // namespace tandem::cuda
