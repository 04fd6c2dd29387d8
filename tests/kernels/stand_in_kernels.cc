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

namespace stand_in = tandem::test::stand_in;

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

template <class Function>
void take_row(const Function& function, std::int64_t r) {
  TeamOfThree team;
  if constexpr (Packable<Function>) {
    HoldingTeam holding;
    const bool held = function.packed() && function.width <= kPack * kMostThreads;
    held ? function.template row<kPack>(holding, r) : function.template row<1>(team, r);
  } else {
    function.row(team, r);
  }
}

template <int width, class Sums>
void sum_all(const Sums& sums) {
  TeamOfThree team;
  for (std::int64_t part = 0; part < sums.stretches.parts(); ++part) {
    for (std::int64_t pack = 0; pack < sums.packs(width); ++pack) {
      if (sums.stretches.channels.plane == 1) {
        sums.template sum<width, true>(team, part, pack);
      } else {
        sums.template sum<width, false>(team, part, pack);
      }
    }
  }
}

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
    for (std::int64_t r = 0; r < rows; ++r) take_row(function, r);
  });
}

template <class Sum>
cudaError_t sum_rows(cudaStream_t stream, std::int64_t rows, const Sum& sum, double* partials) {
  const std::int64_t parts = std::min(rows, kMostReductionBlocks);
  if (parts > 0) {
    const cudaError_t status = stand_in::kernel("sum_rows", stream, [=] {
      TeamOfThree team;
      std::fill_n(partials, parts, 0.0);
      for (std::int64_t r = 0; r < rows; ++r) partials[r % parts] += sum.row(team, r);
    });
    if (status != cudaSuccess) return status;
  }
  return stand_in::kernel("sum_rows", stream,
                          [=] { sum.finish(std::accumulate(partials, partials + parts, 0.0)); });
}

template <class Sums>
cudaError_t sum_stretches(cudaStream_t stream, const Sums& sums) {
  return stand_in::kernel("sum_stretches", stream, [sums] {
    if (sums.packed(Sums::kWidest)) return sum_all<Sums::kWidest>(sums);
    sums.packed(kPack) ? sum_all<kPack>(sums) : sum_all<1>(sums);
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
#define TANDEM_INSTANTIATE(...) \
  template cudaError_t sum_rows(cudaStream_t, std::int64_t, const __VA_ARGS__&, double*);
TANDEM_EACH_ROW_SUM(TANDEM_INSTANTIATE)
#undef TANDEM_INSTANTIATE
#define TANDEM_INSTANTIATE(...) \
  template cudaError_t sum_stretches(cudaStream_t, const __VA_ARGS__&);
TANDEM_EACH_STRETCH_SUM(TANDEM_INSTANTIATE)
#undef TANDEM_INSTANTIATE

}  // namespace tandem::cuda
