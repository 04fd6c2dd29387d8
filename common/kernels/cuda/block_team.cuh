// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tandem::cuda {

// `value` of the lane `distance` further on in the warp, word by word; of the last ones, their own.
template <class State>
__device__ inline State from_lane_above(State value, int distance) {
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % sizeof(unsigned) == 0);
  unsigned words[sizeof(State) / sizeof(unsigned)];
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_down_sync(0xffff'ffffU, word, distance);
  std::memcpy(&value, words, sizeof value);
  return value;
}

// The values of all threads of a block merged into one, in one order, known to every one of them.
// `threads`: of the block, a multiple of 32. All threads call it; it may be called again at once.
template <int threads, class State, class Merge>
__device__ inline State block_merge(State value, const Merge& merge) {
  static_assert(threads % 32 == 0 && threads <= 1024);
  constexpr int kWarps = threads / 32;
  __shared__ State of_warps[kWarps];
  for (int distance = 16; distance > 0; distance /= 2) {
    value = merge(value, from_lane_above(value, distance));
  }
  __syncthreads();  // the last call's values have been read
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  State all = of_warps[0];
  for (int warp = 1; warp < kWarps; ++warp) all = merge(all, of_warps[warp]);
  return all;
}

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
