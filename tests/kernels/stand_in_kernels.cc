// SPDX-License-Identifier: Apache-2.0
//
// Stands in for the device code (kernels/cuda/*.cu): the same functions on each element, one after
// the other on the stream's worker. What it leaves untested is what only a GPU has: blocks, threads
// and their barriers.
#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "common/kernels/cuda/device_code.h"
#include "common/kernels/cuda/for_each.h"
#include "common/kernels/cuda/functions.h"
#include "tests/runtime/stand_in_cudart.h"

namespace tandem::cuda {
namespace {

namespace stand_in = tandem::testing::stand_in;

template <int width, class Function>
void visit_all(std::int64_t count, const Function& function) {
  const std::int64_t threads = blocks_for(count, width) * kThreads;
  for (std::int64_t thread = 0; thread < threads; ++thread) visit<width>(thread, count, function);
}

// Members that share the elements as a block's threads do, one after the other; as few, so that
// some have nothing to merge.
class TeamOfThree {
 public:
  template <class State, class Take, class Merge>
  State reduce(std::int64_t count, const State& nothing, const Take& take, const Merge& merge) {
    State all = nothing;
    for (std::int64_t member = 0; member < kMembers; ++member) {
      State own = nothing;
      for (std::int64_t i = member; i < count; i += kMembers) own = take(own, i);
      all = member == 0 ? own : merge(all, own);
    }
    return all;
  }
  template <class Body>
  void each(std::int64_t count, const Body& body) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
  template <class Body>
  void alone(const Body& body) {
    body();
  }
  template <class Make>
  Make keep(std::int64_t /*count*/, const Make& make) {
    return make;
  }
  template <class Value>
  Value* running(std::int64_t /*count*/, Value* memory) {
    return memory;
  }

 private:
  static constexpr std::int64_t kMembers = 3;
};

// What its members keep lies in no memory of the caller's.
class HoldingTeam : public TeamOfThree {
 public:
  template <class Make>
  auto keep(std::int64_t count, const Make& make) {
    std::vector<decltype(make(count))> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(make(i));
    return [all](std::int64_t i) { return all[static_cast<std::size_t>(i)]; };
  }
  template <class Value>
  std::vector<Value> running(std::int64_t count, Value* /*memory*/) {
    return std::vector<Value>(static_cast<std::size_t>(count));
  }
};

}  // namespace

template <class Function>
cudaError_t for_each(cudaStream_t stream, std::int64_t count, const Function& function) {
  if (count == 0) return cudaSuccess;
  return stand_in::kernel("for_each", stream, [count, function] {
    if constexpr (WidelyPackable<Function>) {
      if (function.packed(kWidePack)) return visit_all<kWidePack>(count, function);
    }
    if constexpr (Packable<Function>) {
      if (function.packed()) return visit_all<kPack>(count, function);
    }
    visit_all<1>(count, function);
  });
}

template <class Function>
cudaError_t for_each_row(cudaStream_t stream, std::int64_t rows, const Function& function) {
  return stand_in::kernel("for_each_row", stream, [rows, function] {
    TeamOfThree team;
    for (std::int64_t r = 0; r < rows; ++r) function.row(team, r);
  });
}

template <class Function>
cudaError_t for_each_packed_row(cudaStream_t stream, std::int64_t rows, std::int64_t columns,
                                const Function& function) {
  const bool held = function.packed() && columns <= kPack * kMostThreads;
  return stand_in::kernel("for_each_packed_row", stream, [rows, held, function] {
    for (std::int64_t r = 0; r < rows; ++r) {
      if (held) {
        HoldingTeam team;
        function.template row<kPack>(team, r);
      } else {
        TeamOfThree team;
        function.template row<1>(team, r);
      }
    }
  });
}

template <class Sum>
cudaError_t sum_rows(cudaStream_t stream, std::int64_t rows, const Sum& sum, double* partials) {
  return stand_in::kernel("sum_rows", stream, [rows, sum, partials] {
    TeamOfThree team;
    const std::int64_t parts = std::min(rows, kMostReductionBlocks);
    std::fill_n(partials, parts, 0.0);
    for (std::int64_t r = 0; r < rows; ++r) partials[r % parts] += sum.row(team, r);
    sum.finish(std::accumulate(partials, partials + parts, 0.0));
  });
}

template <class T>
cudaError_t sum_columns(cudaStream_t stream, std::int64_t batch, std::int64_t out, const T* dy,
                        float* dbias) {
  return stand_in::kernel("sum_columns", stream, [=] {
    for (std::int64_t column = 0; column < out; ++column) {
      float sum = 0;
      for (std::int64_t row = 0; row < batch; ++row) {
        sum += static_cast<float>(dy[row * out + column]);
      }
      dbias[column] = sum;
    }
  });
}

#define TANDEM_INSTANTIATE(...) \
  template cudaError_t for_each(cudaStream_t, std::int64_t, const __VA_ARGS__&);
TANDEM_EACH_ELEMENTWISE(TANDEM_INSTANTIATE)
#undef TANDEM_INSTANTIATE
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
template cudaError_t sum_columns(cudaStream_t, std::int64_t, std::int64_t, const float*, float*);
template cudaError_t sum_columns(cudaStream_t, std::int64_t, std::int64_t, const BFloat16*, float*);

}  // namespace tandem::cuda
