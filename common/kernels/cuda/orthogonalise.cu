// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/block_team.cuh"
#include "common/kernels/cuda/orthogonalise.h"
#include "common/kernels/cuda/orthonormal_rows.h"
#include "common/runtime/cuda/launch.cuh"

namespace tandem::cuda {
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
