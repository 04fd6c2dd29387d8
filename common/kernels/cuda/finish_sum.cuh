// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/cuda/block_merge.cuh"
#include "common/kernels/cuda/grid.h"

namespace tandem::cuda {

// One block's: the sum of the parts, and what becomes of it.
template <class Sum>
__global__ void __launch_bounds__(kThreads) finish_sum(int parts, const double* partials, Sum sum) {
  double part = 0;
  for (int i = static_cast<int>(threadIdx.x); i < parts; i += kThreads) part += partials[i];
  const double total = block_sum<kThreads>(part);
  if (threadIdx.x == 0) sum.finish(total);
}

}  // namespace tandem::cuda
