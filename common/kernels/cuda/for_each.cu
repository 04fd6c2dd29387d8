// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/functions.h"
#include "common/kernels/cuda/grid.h"
#include "common/runtime/cuda/launch.cuh"

namespace tandem::cuda {
namespace {

template <int width, class Function>
__global__ void __launch_bounds__(kThreads) visit_all(std::int64_t count, Function function) {
  visit<width>(static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x, count, function);
}

template <int width, class Function>
cudaError_t launch_visits(cudaStream_t stream, std::int64_t count, const Function& function) {
  return launch<visit_all<width, Function>>(stream, blocks_for(count, width), kThreads, count,
                                            function);
}

}  // namespace

template <class Function>
cudaError_t for_each(cudaStream_t stream, std::int64_t count, const Function& function) {
  if (count == 0) return cudaSuccess;  // CUDA refuses a grid of nothing
  if constexpr (Packable<Function>) {
    if (function.packed()) return launch_visits<kPack>(stream, count, function);
  }
  return launch_visits<1>(stream, count, function);
}

#define TANDEM_INSTANTIATE(...) \
  template cudaError_t for_each(cudaStream_t, std::int64_t, const __VA_ARGS__&);
TANDEM_EACH_ELEMENTWISE(TANDEM_INSTANTIATE)
#undef TANDEM_INSTANTIATE

}  // namespace tandem::cuda
