// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "common/base/half.h"
#include "common/base/rounding.h"
#include "common/comm/nccl/scale_kernel.h"
#include "common/runtime/cuda/launch.cuh"

namespace tandem::nccl {
namespace {

constexpr std::int64_t kThreads = 256;
constexpr std::int64_t kMostBlocks = 1 << 16;  // beyond, each thread takes several elements

template <class T>
__global__ void scale_all(T* values, std::int64_t count, float factor) {  // values: (count)
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < count; i += stride) {
    values[i] = T(static_cast<float>(values[i]) * factor);
  }
}

}  // namespace

template <class T>
cudaError_t scale(T* values, std::int64_t count, float factor, cudaStream_t stream) {
  const std::int64_t blocks = std::min(ceil_div(count, kThreads), kMostBlocks);
  return cuda::launch<scale_all<T>>(stream, blocks, kThreads, values, count, factor);
}
template cudaError_t scale(float*, std::int64_t, float, cudaStream_t);
template cudaError_t scale(BFloat16*, std::int64_t, float, cudaStream_t);
template cudaError_t scale(Float16*, std::int64_t, float, cudaStream_t);

}  // namespace tandem::nccl
