// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

namespace tandem::cuda {

// The sum over all threads of a block, in one order, known to every one of them. `threads`: of the
// block, a multiple of 32. All threads call it; it may be called again at once.
template <int threads>
__device__ inline double block_sum(double value) {
  static_assert(threads % 32 == 0 && threads <= 1024);
  constexpr int kWarps = threads / 32;
  __shared__ double of_warps[kWarps];
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_down_sync(0xffff'ffffU, value, distance);
  }
  __syncthreads();  // the last call's sums have been read
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  double total = 0;
  for (int warp = 0; warp < kWarps; ++warp) total += of_warps[warp];
  return total;
}

}  // namespace tandem::cuda
