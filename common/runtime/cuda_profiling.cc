// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/cuda_profiling.h"

#include "common/runtime/cuda_module.h"

namespace tandem {

const CudaProfiling* find_cuda_profiling() {
  using Entry = const CudaProfiling* (*)();
  const auto entry = reinterpret_cast<Entry>(find_entry(load_cuda_module(), kCudaProfilingEntry));
  return entry == nullptr ? nullptr : entry();
}

}  // namespace tandem
