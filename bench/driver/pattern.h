// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/base/dtype.h"

namespace tandem::bench {

// The values with which copies and collectives are checked: whole numbers so small that sums over
// all ranks are exact in the stored type, so that every element of every result is known to the
// bit. Values differ between ranks and from element to element without a period, so that a part
// which comes from the wrong rank or lands in the wrong place shows.
class Pattern {
 public:
  // Throws a usage error where sums over so many ranks are not exact in `type`.
  Pattern(DType type, int ranks);

  // The value of rank `rank` at `index` of the larger buffer.
  [[nodiscard]] float value(int rank, std::int64_t index) const {
    const auto place =
        static_cast<std::uint64_t>(index) * kGolden + static_cast<std::uint64_t>(rank);
    const std::uint64_t mixed = (place ^ (place >> 29)) * kGolden;
    return static_cast<float>(((mixed >> 32) * values_) >> 32);
  }

  // The sum of all ranks' values at `index`.
  [[nodiscard]] float sum(std::int64_t index) const {
    float sum = 0;
    for (int rank = 0; rank < ranks_; ++rank) sum += value(rank, index);
    return sum;
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

  int ranks_;
  std::uint64_t values_;  // values lie in [0, values_)
};

}  // namespace tandem::bench
