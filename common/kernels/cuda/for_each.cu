// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "common/kernels/cuda/block_team.cuh"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/functions.h"
#include "common/kernels/cuda/grid.h"
#include "common/kernels/cuda/orthonormal_rows.h"
#include "common/runtime/cuda/launch.cuh"

namespace tandem::cuda {

namespace {

template <int width, class Function>
__global__ void __launch_bounds__(kThreads, 2)  // so that one loads while the other adds
    visit_all(std::int64_t count, const __grid_constant__ Function function) {
  visit<width>(static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x, count, function);
}

template <int width, class Function>
cudaError_t launch_visits(cudaStream_t stream, std::int64_t count, const Function& function) {
  static_assert(sizeof(count) + sizeof(Function) <= 4096, "what any GPU takes as parameters");
  return launch<visit_all<width, Function>>(stream, blocks_for(count, width), kThreads, count,
                                            function);
}

}  // namespace

template <class Function>
cudaError_t for_each(cudaStream_t stream, std::int64_t count, const Function& function) {
  if (count == 0) return cudaSuccess;  // CUDA refuses a grid of nothing
  if constexpr (WidelyPackable<Function>) {
    if (function.packed(kWidePack)) return launch_visits<kWidePack>(stream, count, function);
  }
  if constexpr (Packable<Function>) {
    if (function.packed()) return launch_visits<kPack>(stream, count, function);
  }
  return launch_visits<1>(stream, count, function);
}

#define TANDEM_INSTANTIATE(...) \
  template cudaError_t for_each(cudaStream_t, std::int64_t, const __VA_ARGS__&);
TANDEM_EACH_ELEMENTWISE(TANDEM_INSTANTIATE)
#undef TANDEM_INSTANTIATE

namespace {

template <class Function>
__global__ void __launch_bounds__(kThreads) visit_row(Function function) {
  BlockTeam<kThreads> team;
  function.row(team, static_cast<std::int64_t>(blockIdx.x));
}

// A block's part of the sum. All members know what each row adds.
template <class Sum>
__global__ void __launch_bounds__(kThreads)
    sum_part_of_rows(std::int64_t rows, Sum sum, double* partials) {
  BlockTeam<kThreads> team;
  double part = 0;
  for (std::int64_t r = blockIdx.x; r < rows; r += gridDim.x) part += sum.row(team, r);
  if (threadIdx.x == 0) partials[blockIdx.x] = part;
}

// One block's: the sum of the parts, and what becomes of it.
template <class Sum>
__global__ void __launch_bounds__(kThreads)
    finish_sum(std::int64_t parts, const double* partials, Sum sum) {
  BlockTeam<kThreads> team;
  const double total = sum_of(team, parts, [&](std::int64_t i) { return partials[i]; });
  team.alone([&] { sum.finish(total); });
}

}  // namespace

template <class Function>
cudaError_t for_each_row(cudaStream_t stream, std::int64_t rows, const Function& function) {
  return launch<visit_row<Function>>(stream, rows, kThreads, function);
}

template <class Sum>
cudaError_t sum_rows(cudaStream_t stream, std::int64_t rows, const Sum& sum, double* partials) {
  const std::int64_t blocks = std::min(rows, kMostReductionBlocks);
  if (blocks > 0) {  // CUDA refuses a grid of nothing
    const cudaError_t status =
        launch<sum_part_of_rows<Sum>>(stream, blocks, kThreads, rows, sum, partials);
    if (status != cudaSuccess) return status;
  }
  return launch<finish_sum<Sum>>(stream, 1, kThreads, blocks, partials, sum);
}

#define TANDEM_INSTANTIATE(...) \
  template cudaError_t for_each_row(cudaStream_t, std::int64_t, const __VA_ARGS__&);
TANDEM_EACH_ROWWISE(TANDEM_INSTANTIATE)
#undef TANDEM_INSTANTIATE
#define TANDEM_INSTANTIATE(...) \
  template cudaError_t sum_rows(cudaStream_t, std::int64_t, const __VA_ARGS__&, double*);
TANDEM_EACH_ROW_SUM(TANDEM_INSTANTIATE)
#undef TANDEM_INSTANTIATE

namespace {

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

constexpr int kTeam = 1024;

__global__ void __launch_bounds__(kTeam)
    orthogonalise_block(std::int64_t rows, std::int64_t columns, float* matrix) {
  BlockTeam<kTeam> team;
  orthonormalise_rows(team, rows, columns, matrix);
}

}  // namespace

template <class T>
cudaError_t sum_columns(cudaStream_t stream, std::int64_t batch, std::int64_t out, const T* dy,
                        float* dbias) {
  return launch<column_sums<T>>(stream, ceil_div(out, kColumns), kColumns * kLanes, batch, out, dy,
                                dbias);
}
template cudaError_t sum_columns(cudaStream_t, std::int64_t, std::int64_t, const float*, float*);
template cudaError_t sum_columns(cudaStream_t, std::int64_t, std::int64_t, const BFloat16*, float*);

cudaError_t orthogonalise(cudaStream_t stream, std::int64_t rows, std::int64_t columns,
                          float* matrix) {
  return launch<orthogonalise_block>(stream, 1, kTeam, rows, columns, matrix);
}

}  // namespace tandem::cuda
