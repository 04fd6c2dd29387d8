// SPDX-License-Identifier: Apache-2.0
#include "common/base/half.h"
#include "common/kernels/cuda/block_team.cuh"
#include "common/kernels/cuda/grid.h"
#include "common/kernels/cuda/sums.h"
#include "common/runtime/cuda/launch.cuh"

namespace tandem::cuda {
namespace {

// A block's part of the sum. `items`: packs, the last of which may not be whole.
template <int width, class Sum>
__global__ void __launch_bounds__(kThreads)
    sum_part(std::int64_t count, Sum sum, double* partials) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kThreads * width;
  double part = 0;
  for (std::int64_t begin =
           (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * width;
       begin < count; begin += stride) {
    if (begin + width <= count) {
      part += sum.template at<width>(begin);
    } else {
      for (std::int64_t i = begin; i < count; ++i) part += sum.template at<1>(i);
    }
  }
  part = block_sum<kThreads>(part);
  if (threadIdx.x == 0) partials[blockIdx.x] = part;
}

template <int width, class Sum>
cudaError_t launch_parts(cudaStream_t stream, std::int64_t count, const Sum& sum,
                         double* partials) {
  const std::int64_t blocks = reduction_blocks(count, width);
  if (blocks > 0) {
    const cudaError_t status =
        launch<sum_part<width, Sum>>(stream, blocks, kThreads, count, sum, partials);
    if (status != cudaSuccess) return status;
  }
  return launch<finish_sum<Sum>>(stream, 1, kThreads, static_cast<int>(blocks),
                                 static_cast<const double*>(partials), sum);
}

// Columns side by side, so that a warp reads a row's neighbours; lanes share the rows.
constexpr int kColumns = 32;
constexpr int kLanes = 32;

template <class T>
__global__ void __launch_bounds__(kColumns* kLanes)
    column_sums(std::int64_t batch, std::int64_t out, const T* dy /* (batch, out) */,
                float* dbias /* (out) */) {
  __shared__ float parts[kLanes][kColumns];
  const int lane = static_cast<int>(threadIdx.x) / kColumns;
  const int own = static_cast<int>(threadIdx.x) % kColumns;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kColumns + own;
  float part = 0;
  if (column < out) {
    for (std::int64_t row = lane; row < batch; row += kLanes) {
      part += static_cast<float>(dy[row * out + column]);
    }
  }
  parts[lane][own] = part;
  __syncthreads();
  for (int half = kLanes / 2; half > 0; half /= 2) {
    if (lane < half) parts[lane][own] += parts[lane + half][own];
    __syncthreads();
  }
  if (lane == 0 && column < out) dbias[column] = parts[0][own];
}

}  // namespace

template <class Sum>
cudaError_t sum_up(cudaStream_t stream, std::int64_t count, const Sum& sum, double* partials) {
  return sum.packed() ? launch_parts<kPack>(stream, count, sum, partials)
                      : launch_parts<1>(stream, count, sum, partials);
}

template <class T>
cudaError_t sum_columns(cudaStream_t stream, std::int64_t batch, std::int64_t out, const T* dy,
                        float* dbias) {
  return launch<column_sums<T>>(stream, ceil_div(out, kColumns), kColumns * kLanes, batch, out, dy,
                                dbias);
}

#define TANDEM_INSTANTIATE(...) \
  template cudaError_t sum_up(cudaStream_t, std::int64_t, const __VA_ARGS__&, double*);
TANDEM_EACH_SUM(TANDEM_INSTANTIATE)
#undef TANDEM_INSTANTIATE

template cudaError_t sum_columns(cudaStream_t, std::int64_t, std::int64_t, const float*, float*);
template cudaError_t sum_columns(cudaStream_t, std::int64_t, std::int64_t, const BFloat16*, float*);

}  // namespace tandem::cuda
