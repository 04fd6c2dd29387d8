// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <utility>

#include "common/kernels/cuda/grid.h"

namespace tandem::cuda {

// Launches `kernel` without shared memory of its caller's choice. Unlike kernel<<<>>>, the status
// is this launch's own, not what an earlier call may have left behind.
template <class... Parameters, class... Arguments>
cudaError_t launch(cudaStream_t stream, std::int64_t blocks, int threads,
                   void (*kernel)(Parameters...), Arguments&&... arguments) {
  if (blocks > kMostBlocks) return cudaErrorInvalidConfiguration;
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(static_cast<unsigned>(blocks));
  configuration.blockDim = dim3(static_cast<unsigned>(threads));
  configuration.stream = stream;
  return cudaLaunchKernelEx(&configuration, kernel, std::forward<Arguments>(arguments)...);
}

}  // namespace tandem::cuda
