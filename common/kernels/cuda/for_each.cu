// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/functions.h"
#include "common/runtime/cuda/launch.cuh"

namespace tandem::cuda {

// `value` of the lane `distance` further on in the warp, word by word; of the last ones, their own.
template <class State>
__device__ inline State from_lane_above(State value, unsigned distance) {
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % sizeof(unsigned) == 0);
  unsigned words[sizeof(State) / sizeof(unsigned)];
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_down_sync(0xffff'ffffU, word, distance);
  std::memcpy(&value, words, sizeof value);
  return value;
}

// The values of a team's threads merged into one, in one order, known to every one of them.
// `threads`: the most that the block has, whole warps; thread i is in team i % teams, a power of
// two up to 32. All threads call it; it may be called again at once.
template <int threads, int most_teams, class State, class Merge>
__device__ inline State block_merge(State value, unsigned teams, const Merge& merge) {
  static_assert(threads % 32 == 0 && threads <= 1024 && most_teams <= 32);
  constexpr int kWarps = threads / 32;
  __shared__ State of_warps[kWarps][most_teams];
  for (unsigned distance = 16; distance >= teams; distance /= 2) {
    value = merge(value, from_lane_above(value, distance));
  }
  __syncthreads();  // the last call's values have been read
  const unsigned lane = threadIdx.x % 32;
  if (lane < teams) of_warps[threadIdx.x / 32][lane] = value;
  __syncthreads();
  State all = of_warps[0][lane % teams];
  for (unsigned warp = 1; warp < kWarps; ++warp) {
    if (warp * 32 < blockDim.x) all = merge(all, of_warps[warp][lane % teams]);
  }
  return all;
}

// The threads of a block, `threads` at most, as a team (team.h), or as several side by side, of
// which an idle one has no elements. Branches that lead to a barrier are taken on what all threads
// know alike, so that all meet there.
template <int threads, int most_teams = 1>
class BlockTeam {
 public:
  __device__ explicit BlockTeam(unsigned teams = 1, bool idle = false)
      : teams_(most_teams == 1 ? 1 : teams), idle_(idle) {}

  template <class State, class Take, class Merge>
  __device__ State reduce(std::int64_t count, const State& nothing, const Take& take,
                          const Merge& merge) {
    State own = nothing;
    const std::int64_t all = idle_ ? 0 : count;
    for (std::int64_t i = threadIdx.x / teams_; i < all; i += blockDim.x / teams_) {
      own = take(own, i);
    }
    return block_merge<threads, most_teams>(own, teams_, merge);
  }

  template <class Body>
  __device__ void each(std::int64_t count, const Body& body) {
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) body(i);
    __syncthreads();
  }

  template <class Body>
  __device__ void alone(const Body& body) {
    if (threadIdx.x < teams_ && !idle_) body();
  }

  template <class Make>
  __device__ Make keep(std::int64_t /*count*/, const Make& make) {
    return make;
  }

  template <class Value>
  __device__ Value* running(std::int64_t /*count*/, Value* memory) {
    return memory;
  }

 private:
  const unsigned teams_;
  const bool idle_;
};

// A value of the thread's own element.
template <class Value>
struct Held {
  Value value;
  __device__ const Value& operator()(std::int64_t /*i*/) const { return value; }
  __device__ Value& operator[](std::int64_t /*i*/) { return value; }
};

// A block with a thread for each element.
class HoldingTeam : public BlockTeam<kMostThreads> {
 public:
  template <class Make>
  __device__ auto keep(std::int64_t count, const Make& make) {
    Held<decltype(make(count))> own{};
    if (threadIdx.x < count) own.value = make(threadIdx.x);
    return own;
  }

  template <class Value>
  __device__ Held<Value> running(std::int64_t /*count*/, Value* /*memory*/) {
    return {};
  }
};

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
  if constexpr (Packable<Function>) {
    function.template row<1>(team, static_cast<std::int64_t>(blockIdx.x));
  } else {
    function.row(team, static_cast<std::int64_t>(blockIdx.x));
  }
}

template <class Function>
__global__ void __launch_bounds__(kMostThreads) visit_held_row(Function function) {
  HoldingTeam team;
  function.template row<kPack>(team, static_cast<std::int64_t>(blockIdx.x));
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
  if constexpr (Packable<Function>) {
    constexpr std::int64_t kWarp = 32;
    const std::int64_t threads = round_up(ceil_div(function.width, std::int64_t{kPack}), kWarp);
    if (function.packed() && threads <= kMostThreads) {
      return launch<visit_held_row<Function>>(stream, rows, static_cast<int>(threads), function);
    }
  }
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

// Consecutive blocks take the packs of one stretch.
template <int width, bool last, class Sums>
__global__ void __launch_bounds__(kThreads, 2)
    sum_stretch(std::int64_t packs, unsigned teams, const __grid_constant__ Sums sums) {
  const auto [part, block] = divide(blockIdx.x, ceil_div(packs, std::int64_t{teams}));
  const std::int64_t pack = block * teams + threadIdx.x % teams;
  BlockTeam<kThreads, Stretches::kMostTeams> team(teams, pack >= packs);
  sums.template sum<width, last>(team, part, pack < packs ? pack : packs - 1);
}

template <int width, class Sums>
cudaError_t launch_sums(cudaStream_t stream, const Sums& sums) {
  const unsigned teams = sums.stretches.teams();
  const std::int64_t packs = sums.packs(width);
  const std::int64_t blocks = sums.stretches.parts() * ceil_div(packs, std::int64_t{teams});
  return sums.stretches.channels.plane == 1
             ? launch<sum_stretch<width, true, Sums>>(stream, blocks, kThreads, packs, teams, sums)
             : launch<sum_stretch<width, false, Sums>>(stream, blocks, kThreads, packs, teams,
                                                       sums);
}

}  // namespace

template <class Sums>
cudaError_t sum_stretches(cudaStream_t stream, const Sums& sums) {
  if (sums.packed(Sums::kWidest)) return launch_sums<Sums::kWidest>(stream, sums);
  return sums.packed(kPack) ? launch_sums<kPack>(stream, sums) : launch_sums<1>(stream, sums);
}

#define TANDEM_INSTANTIATE(...) \
  template cudaError_t sum_stretches(cudaStream_t, const __VA_ARGS__&);
TANDEM_EACH_STRETCH_SUM(TANDEM_INSTANTIATE)
#undef TANDEM_INSTANTIATE

}  // namespace tandem::cuda
