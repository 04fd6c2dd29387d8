// SPDX-License-Identifier: Apache-2.0
//
// Ranks of one node read one clock, CLOCK_MONOTONIC. Those of several nodes have none in common:
// each compares its own with rank 0's by round trips, before and after what is traced.
#pragma once

#include <functional>
#include <vector>

#include "common/base/clock.h"

namespace tandem::timeline {

// Rank 0 read `answered` on its clock after this rank read `asked` on its own, and before `heard`.
struct RoundTrip {
  Nanoseconds asked{0};
  Nanoseconds answered{0};
  Nanoseconds heard{0};
};

// Of a moment: by how much rank 0's clock is ahead of a rank's own.
struct ClockReading {
  Nanoseconds own{0};    // when
  Nanoseconds ahead{0};  // the truth is no further off than `error`
  Nanoseconds error{0};
};

// By the shortest of the round trips, of which there is one at least: half of it bounds the error.
[[nodiscard]] ClockReading best_of(const std::vector<RoundTrip>& trips);

// All ranks' numbers by rank, the same on all: nobody has them before everybody gave his.
using GatherNumbers = std::function<std::vector<double>(double)>;

// Makes `trips` round trips of two exchanges each. Collective: every rank at once. `now` reads the
// rank's own clock, which is exact as a double for 104 days from its epoch.
[[nodiscard]] ClockReading read_clock(const GatherNumbers& gather,
                                      const std::function<Nanoseconds()>& now, int trips);

// Times of a rank's clock on rank 0's: a clock that goes evenly between two readings.
class ClockFit {
 public:
  ClockFit() = default;  // the same clock
  ClockFit(const ClockReading& before, const ClockReading& after);

  [[nodiscard]] Nanoseconds on_rank_0(Nanoseconds own) const;

  // By how much rank 0's clock was ahead at the first reading, and what it gained since, in seconds
  // per second.
  [[nodiscard]] Nanoseconds offset() const { return ahead_; }
  [[nodiscard]] double drift() const { return drift_; }

  // Of times between the readings, that of the worse one: lines through two points that are off by
  // so much at most are off by no more between them.
  [[nodiscard]] Nanoseconds error() const { return error_; }

 private:
  Nanoseconds from_{0};   // own
  Nanoseconds ahead_{0};  // then
  double drift_ = 0;
  Nanoseconds error_{0};
};

}  // namespace tandem::timeline
