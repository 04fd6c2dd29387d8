// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/kernels/cuda/block_merge.cuh"

namespace tandem::cuda {

// The threads of a block as a team (team.h). Branches that lead to a barrier are taken on what all
// threads know alike, so that all meet there.
template <int threads>
class BlockTeam {
 public:
  template <class State, class Take, class Merge>
  __device__ State reduce(std::int64_t count, State nothing, const Take& take, const Merge& merge) {
    State own = nothing;
    for (std::int64_t i = threadIdx.x; i < count; i += threads) own = take(own, i);
    return block_merge<threads>(own, merge);
  }

  template <class Body>
  __device__ void each(std::int64_t count, const Body& body) {
    for (std::int64_t i = threadIdx.x; i < count; i += threads) body(i);
    __syncthreads();
  }

  template <class Body>
  __device__ void alone(const Body& body) {
    if (threadIdx.x == 0) body();
  }
};

}  // namespace tandem::cuda
