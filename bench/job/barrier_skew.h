// SPDX-License-Identifier: Apache-2.0
//
// On several nodes no clock is common, so a sample is the slowest rank's own duration. A rank that
// left the barrier before other ranks then also counts its wait for the other ranks: the skew by
// which ranks leave a barrier is estimated here, and recorded beside the samples.
#pragma once

#include <vector>

#include "common/base/units.h"
#include "common/comm/communicator.h"

namespace tandem::bench {

// One rank's passage of a barrier, in nanoseconds of its own clock.
struct Passage {
  double entered = 0;
  double left = 0;
};

struct BarrierSkew {
  Seconds median{0};  // median over rounds of the time between the first and the last rank to leave
  Seconds uncertainty{0};  // of the median, either way: how well clocks could be compared
};

// The skew from rounds of passages by rank. Every rank enters before any rank leaves: each round
// thereby bounds how far two clocks are apart, the tightest bounds of all rounds hold, and their
// middle is taken.
[[nodiscard]] BarrierSkew skew_of(const std::vector<std::vector<Passage>>& rounds);

// Passes a few barriers. Collective; returns the same skew on all ranks.
[[nodiscard]] BarrierSkew measure_barrier_skew(Communicator& ranks);

}  // namespace tandem::bench
