// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <utility>

#include "common/runtime/cuda/own_kernels.h"

namespace tandem::cuda {

inline constexpr std::int64_t kMostBlocks = 0x7fff'ffff;  // that CUDA takes, in x

// Its address is known once the module is loaded, for each kernel that is launched anywhere.
template <auto kernel>
inline const bool is_own_kernel = add_own_kernel(reinterpret_cast<const void*>(kernel));

// Launches `kernel` without shared memory of its caller's choice. The only way: so no kernel is
// missing in own_kernels.h. Unlike kernel<<<>>>, the status is this launch's own, not what an
// earlier call may have left behind.
template <auto kernel, class... Arguments>
cudaError_t launch(cudaStream_t stream, std::int64_t blocks, int threads,
                   Arguments&&... arguments) {
  if (!is_own_kernel<kernel> || blocks > kMostBlocks) return cudaErrorInvalidConfiguration;
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = dim3(static_cast<unsigned>(blocks));
  configuration.blockDim = dim3(static_cast<unsigned>(threads));
  configuration.stream = stream;
  return cudaLaunchKernelEx(&configuration, kernel, std::forward<Arguments>(arguments)...);
}

}  // namespace tandem::cuda
