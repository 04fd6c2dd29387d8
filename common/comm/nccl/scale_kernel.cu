// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/comm/nccl/scale_kernel.h"
#include "common/runtime/cuda/launch.cuh"

namespace tandem::nccl {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 1 << 16;  // beyond, each thread takes several elements

__device__ float widened(float value) { return value; }
__device__ float widened(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ float widened(__half value) { return __half2float(value); }

__device__ void narrow(float value, float& to) { to = value; }
__device__ void narrow(float value, __nv_bfloat16& to) { to = __float2bfloat16_rn(value); }
__device__ void narrow(float value, __half& to) { to = __float2half_rn(value); }

template <class T>
__global__ void scale(T* values, std::int64_t count, float factor) {  // values: (count)
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t i = first; i < count; i += stride) {
    narrow(widened(values[i]) * factor, values[i]);
  }
}

template <class T>
cudaError_t launch(void* values, std::int64_t count, float factor, cudaStream_t stream) {
  const std::int64_t wanted = (count + kThreads - 1) / kThreads;
  const std::int64_t blocks = wanted < kMostBlocks ? wanted : kMostBlocks;
  return cuda::launch<scale<T>>(stream, blocks, kThreads, static_cast<T*>(values), count, factor);
}

}  // namespace

cudaError_t scale_fp32(void* values, std::int64_t count, float factor, cudaStream_t stream) {
  return launch<float>(values, count, factor, stream);
}
cudaError_t scale_bf16(void* values, std::int64_t count, float factor, cudaStream_t stream) {
  return launch<__nv_bfloat16>(values, count, factor, stream);
}
cudaError_t scale_fp16(void* values, std::int64_t count, float factor, cudaStream_t stream) {
  return launch<__half>(values, count, factor, stream);
}

}  // namespace tandem::nccl
