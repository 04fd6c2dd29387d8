// SPDX-License-Identifier: Apache-2.0
//
// The calls to profilers through CUDA, as a separate entry of the CUDA module.
#pragma once

#include "common/runtime/stream.h"

namespace tandem {

struct CudaProfiling {
  // cudaProfilerStart and cudaProfilerStop of this process, on all its GPUs. Both throw a failure
  // with CUDA's reason; without a profiler they do nothing.
  void (*start)();
  void (*stop)();
  // A CUDA stream's cudaStream_t.
  void* (*native_stream)(Stream& stream);
  // CUDA's ordinal of the GPU that the stream is on.
  int (*gpu)(Stream& stream);
};

// The module's exported symbol of this entry: `const CudaProfiling*
// tandem_cuda_profiling_module()`.
inline constexpr const char* kCudaProfilingEntry = "tandem_cuda_profiling_module";

// The entry of this process's CUDA module; null where there is none.
[[nodiscard]] const CudaProfiling* find_cuda_profiling();

}  // namespace tandem
