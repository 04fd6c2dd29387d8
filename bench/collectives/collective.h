// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "bench/driver/device_values.h"
#include "bench/driver/flag_values.h"
#include "common/base/dtype.h"
#include "common/comm/communicator.h"

namespace tandem::bench {

enum class Collective { kAllReduce, kBroadcast, kReduce, kScatter, kGather };

inline constexpr std::array kCollectives{Choice<Collective>{"all_reduce", Collective::kAllReduce},
                                         Choice<Collective>{"broadcast", Collective::kBroadcast},
                                         Choice<Collective>{"reduce", Collective::kReduce},
                                         Choice<Collective>{"scatter", Collective::kScatter},
                                         Choice<Collective>{"gather", Collective::kGather}};

// Whether result and input are one memory; all but all_reduce have one form alone.
enum class BufferUse { kOnly, kInPlace, kOutOfPlace };

// The rank from which or to which rooted collectives go.
inline constexpr int kRoot = 0;

// The call that is measured under one name.
struct CollectiveCase {
  Collective collective = Collective::kAllReduce;
  BufferUse form = BufferUse::kInPlace;
  std::int64_t count = 0;  // elements of the larger buffer
  DType type = DType::kFloat32;
  ReduceOp op = ReduceOp::kAverage;  // all_reduce's; reduce always sums
  int calls = 1;                     // calls per sample, back to back

  [[nodiscard]] Bytes size() const { return Bytes{count * size_of(type)}; }
};

// True where each rank has a block of the larger buffer: scatter and gather. The size of such a
// collective is that of the larger buffer, as in nccl-tests.
[[nodiscard]] bool is_in_blocks(Collective collective);

// True where a second call on the first call's result makes the same result. All cases are
// repeatable but for collectives that reduce into their own input.
[[nodiscard]] bool is_repeatable(const CollectiveCase& measured);

// True where a second call adds to the first call's result, so that values grow with every call.
[[nodiscard]] bool grows(const CollectiveCase& measured);

// busbw / algbw, as nccl-tests defines the factor (doc/PERFORMANCE.md): the bytes that pass the
// busiest link, over the size.
[[nodiscard]] double bus_factor(Collective collective, int ranks);

// The name "all_reduce/ranks:2/bytes:1048576/fp32/in_place". Transport, launch and wait are left
// out of the name, so that compare.py sets runs side by side; the context holds all three.
[[nodiscard]] std::string name_of(const CollectiveCase& measured, int ranks);

// The value that `measured` has to leave on `rank` at each index of the larger buffer, before the
// value is rounded to the stored type.
class Expectation {
 public:
  Expectation(const CollectiveCase& measured, const Pattern& pattern, int rank, int ranks);

  [[nodiscard]] float at(std::int64_t index) const {
    switch (source_) {
      case Source::kSum:
        return pattern_.sum(index) * factor_;
      case Source::kOwner:
        return pattern_.value(static_cast<int>(index / block_), index);
      case Source::kRank:
        return pattern_.value(rank_, index);
    }
    return 0;
  }

 private:
  enum class Source {
    kSum,    // the sum of all ranks' values, times factor_
    kOwner,  // the value of the rank in whose block the element lies
    kRank,   // the value of rank_
  };

  const Pattern pattern_;
  Source source_ = Source::kRank;
  float factor_ = 1;
  std::int64_t block_ = 1;
  int rank_ = 0;
};

}  // namespace tandem::bench
