// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/cuda/block_sum.cuh"
#include "common/kernels/cuda/orthogonalise.h"
#include "common/kernels/cuda/orthonormal_rows.h"
#include "common/runtime/cuda/launch.cuh"

namespace tandem::cuda {
namespace {

constexpr int kTeam = 1024;

// The threads of the one block. Branches are taken on sums, which all threads know alike, so that
// all meet at each barrier.
class BlockTeam {
 public:
  template <class Term>
  __device__ double sum(std::int64_t count, const Term& term) {
    double part = 0;
    for (std::int64_t i = threadIdx.x; i < count; i += kTeam) part += term(i);
    return block_sum<kTeam>(part);
  }

  template <class Body>
  __device__ void each(std::int64_t count, const Body& body) {
    for (std::int64_t i = threadIdx.x; i < count; i += kTeam) body(i);
    __syncthreads();
  }
};

__global__ void __launch_bounds__(kTeam)
    orthogonalise_block(std::int64_t rows, std::int64_t columns, float* matrix) {
  BlockTeam team;
  orthonormalise_rows(team, rows, columns, matrix);
}

}  // namespace

cudaError_t orthogonalise(cudaStream_t stream, std::int64_t rows, std::int64_t columns,
                          float* matrix) {
  return launch<orthogonalise_block>(stream, 1, kTeam, rows, columns, matrix);
}

}  // namespace tandem::cuda
