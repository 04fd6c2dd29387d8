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
__device__ inline State from_lane_above(State value, int distance) {
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % sizeof(unsigned) == 0);
  unsigned words[sizeof(State) / sizeof(unsigned)];
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_down_sync(0xffff'ffffU, word, distance);
  std::memcpy(&value, words, sizeof value);
  return value;
}

// The values of all threads of a block merged into one, in one order, known to every one of them.
// `threads`: the most that the block has, whole warps. All threads call it; it may be called again
// at once.
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
  for (int warp = 1; warp < kWarps; ++warp) {
    if (warp * 32 < static_cast<int>(blockDim.x)) all = merge(all, of_warps[warp]);
  }
  return all;
}

// The threads of a block, `threads` at most, as a team (team.h). Branches that lead to a barrier
// are taken on what all threads know alike, so that all meet there.
template <int threads>
class BlockTeam {
 public:
  template <class State, class Take, class Merge>
  __device__ State reduce(std::int64_t count, const State& nothing, const Take& take,
                          const Merge& merge) {
    State own = nothing;
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) own = take(own, i);
    return block_merge<threads>(own, merge);
  }

  template <class Body>
  __device__ void each(std::int64_t count, const Body& body) {
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) body(i);
    __syncthreads();
  }

  template <class Body>
  __device__ void alone(const Body& body) {
    if (threadIdx.x == 0) body();
  }

  template <class Make>
  __device__ Make keep(std::int64_t /*count*/, const Make& make) {
    return make;
  }

  template <class Value>
  __device__ Value* running(std::int64_t /*count*/, Value* memory) {
    return memory;
  }
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
  function.row(team, static_cast<std::int64_t>(blockIdx.x));
}

template <class Function>
__global__ void __launch_bounds__(kThreads) visit_loose_row(Function function) {
  BlockTeam<kThreads> team;
  function.template row<1>(team, static_cast<std::int64_t>(blockIdx.x));
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
  return launch<visit_row<Function>>(stream, rows, kThreads, function);
}

template <class Function>
cudaError_t for_each_packed_row(cudaStream_t stream, std::int64_t rows, std::int64_t columns,
                                const Function& function) {
  constexpr std::int64_t kWarp = 32;
  const std::int64_t threads = round_up(ceil_div(columns, std::int64_t{kPack}), kWarp);
  return function.packed() && threads <= kMostThreads
             ? launch<visit_held_row<Function>>(stream, rows, static_cast<int>(threads), function)
             : launch<visit_loose_row<Function>>(stream, rows, kThreads, function);
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
#define TANDEM_INSTANTIATE(...)                                                      \
  template cudaError_t for_each_packed_row(cudaStream_t, std::int64_t, std::int64_t, \
                                           const __VA_ARGS__&);
TANDEM_EACH_PACKWISE(TANDEM_INSTANTIATE)
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

}  // namespace

template <class T>
cudaError_t sum_columns(cudaStream_t stream, std::int64_t batch, std::int64_t out, const T* dy,
                        float* dbias) {
  return launch<column_sums<T>>(stream, ceil_div(out, kColumns), kColumns * kLanes, batch, out, dy,
                                dbias);
}
template cudaError_t sum_columns(cudaStream_t, std::int64_t, std::int64_t, const float*, float*);
template cudaError_t sum_columns(cudaStream_t, std::int64_t, std::int64_t, const BFloat16*, float*);

}  // namespace tandem::cuda
