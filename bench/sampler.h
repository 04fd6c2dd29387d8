// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "common/comm/communicator.h"
#include "common/parallel/strategy.h"

namespace tandem::bench {

struct Warmup {
  Seconds first_step{0};
  Seconds time{0};
  int steps = 0;
  Seconds per_sample{0};  // mean of the later half: what a sample will take
};

// Ranks of one node read one monotonic clock; those of several nodes have no clock in common.
enum class Clocks { kCommon, kApart };

// Barrier (untimed), then `work` on every rank: from the last rank's start to the last rank's end
// on a common clock, else the longest of all ranks' own durations. Collective; the same number on
// every rank.
[[nodiscard]] Seconds timed_over_ranks(Communicator& ranks, const std::function<void()>& work,
                                       Clocks clocks = Clocks::kCommon);

// Takes samples of a strategy's step. All calls are collective, and every rank gets the same
// numbers, so that decisions made from them are the same everywhere.
class Sampler {
 public:
  // `steps_per_sample` of 1 is synchronous; more run freely between one barrier and one wait.
  Sampler(Strategy& strategy, Communicator& ranks, int steps_per_sample,
          Clocks clocks = Clocks::kCommon)
      : strategy_(strategy), ranks_(ranks), steps_per_sample_(steps_per_sample), clocks_(clocks) {}

  // Steps, then a wait for all own streams; per step.
  [[nodiscard]] Seconds sample();

  // Discards until both limits are reached.
  [[nodiscard]] Warmup warm_up(int steps, Nanoseconds time);

 private:
  [[nodiscard]] Seconds time_of(int steps);

  Strategy& strategy_;
  Communicator& ranks_;
  const int steps_per_sample_;
  const Clocks clocks_;
};

}  // namespace tandem::bench
