// SPDX-License-Identifier: Apache-2.0
//
// Ranks of one node read one clock, CLOCK_MONOTONIC. Ranks of several nodes have no clock in
// common: each rank compares its own clock with rank 0's by round trips, before and after the
// traced steps.
#pragma once

#include <functional>
#include <vector>

#include "common/base/units.h"
#include "common/timeline/timeline.h"

namespace tandem::timeline {

// A round trip: rank 0 read `answered` on its clock after this rank read `asked` on its own clock,
// and before this rank read `heard`.
struct RoundTrip {
  Nanoseconds asked{0};
  Nanoseconds answered{0};
  Nanoseconds heard{0};
};

// By how much rank 0's clock is ahead of a rank's own clock at one moment.
struct ClockReading {
  Nanoseconds own{0};    // the moment on the rank's own clock
  Nanoseconds ahead{0};  // the true value is no further off than `error`
  Nanoseconds error{0};
};

// Reads the offset from the shortest of `trips`, at least one; half of that round trip bounds the
// error.
[[nodiscard]] ClockReading best_of(const std::vector<RoundTrip>& trips);

// Gathers one number of every rank, by rank, the same list on all ranks. No rank has the list
// before every rank has given its number.
using GatherNumbers = std::function<std::vector<double>(double)>;

// Makes `trips` round trips of two exchanges each. Collective: every rank calls at once. `now`
// reads the rank's own clock, which is exact as a double for 104 days from its epoch.
[[nodiscard]] ClockReading read_clock(const GatherNumbers& gather,
                                      const std::function<Nanoseconds()>& now, int trips);

// Converts times of a rank's clock to rank 0's clock, on which the rank's clock runs evenly between
// two readings.
class ClockFit {
 public:
  ClockFit() = default;  // both ranks read the same clock
  ClockFit(const ClockReading& before, const ClockReading& after);

  [[nodiscard]] Nanoseconds on_rank_0(Nanoseconds own) const;

  // By how much rank 0's clock was ahead at the first reading, and what rank 0's clock gained
  // since, in seconds per second.
  [[nodiscard]] Nanoseconds offset() const { return ahead_; }
  [[nodiscard]] double drift() const { return drift_; }

  // The error of times between the readings is that of the worse reading: a line through two points
  // that are off by at most an error is off by no more between the points.
  [[nodiscard]] Nanoseconds error() const { return error_; }

 private:
  Nanoseconds from_{0};   // the first reading, on the rank's own clock
  Nanoseconds ahead_{0};  // rank 0's lead at the first reading
  double drift_ = 0;
  Nanoseconds error_{0};
};

// Moves the process's times to rank 0's clock.
void align(Process& process, const ClockFit& clock);

// Matches the collectives of one sequence number, and sets in each how the ranks, or the devices of
// a process, came together. All processes must be on one clock.
void match_collectives(Trace& trace);

}  // namespace tandem::timeline
