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
__global__ void __launch_bounds__(kThreads)
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

}  // namespace

template <class Function>
cudaError_t for_each_row(cudaStream_t stream, std::int64_t rows, const Function& function) {
  return launch<visit_row<Function>>(stream, rows, kThreads, function);
}

template <class Sum>
cudaError_t sum_rows(cudaStream_t stream, std::int64_t rows, const Sum& sum, double* partials) {
  const std::int64_t blocks = std::min(rows, kMostReductionBlocks);
  const cudaError_t status =
      launch<sum_part_of_rows<Sum>>(stream, blocks, kThreads, rows, sum, partials);
  if (status != cudaSuccess) return status;
  return launch<finish_sum<Sum>>(stream, 1, kThreads, static_cast<int>(blocks),
                                 static_cast<const double*>(partials), sum);
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

constexpr int kTeam = 1024;

__global__ void __launch_bounds__(kTeam)
    orthogonalise_block(std::int64_t rows, std::int64_t columns, float* matrix) {
  BlockTeam<kTeam> team;
  orthonormalise_rows(team, rows, columns, matrix);
}

}  // namespace

cudaError_t orthogonalise(cudaStream_t stream, std::int64_t rows, std::int64_t columns,
                          float* matrix) {
  return launch<orthogonalise_block>(stream, 1, kTeam, rows, columns, matrix);
}

}  // namespace tandem::cuda
