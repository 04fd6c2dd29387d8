// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/collectives/collective.h"
#include "bench/driver/pattern.h"

namespace tandem::bench {

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
