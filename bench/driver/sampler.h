// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/parallel/strategy.h"

namespace tandem::bench {

// Rank 0's value, bit for bit; the values of other ranks do not count. Collective.
[[nodiscard]] inline double root_value(Bootstrap& bootstrap, double value) {
  return std::stod(broadcast(bootstrap, fmt::format("{:.17g}", value), 0));
}

// Gives the samples of one entry, in seconds, as its benchmark's iterations, and sets the counters
// p50_us, p95_us and, of 1000 samples or more, p99_us: percentiles by nearest rank.
void replay_samples(benchmark::State& state, std::span<const double> seconds);

struct Warmup {
  Seconds first_step{0};
  Seconds time{0};
  int steps = 0;
  Seconds per_sample{0};  // mean of the later half: the expected time of a sample
};

// How long a warm-up goes on: for these steps and this time at least, and then until the machine is
// steady, but no longer than the cap.
struct WarmupLimits {
  int steps = 0;
  Nanoseconds time{0};
  // Asked after each sample; gives the same answer on every rank. Absent: nothing has to be steady.
  std::function<bool()> is_steady{};
  Nanoseconds cap{0};
};

// Ranks of one node read one monotonic clock; ranks of several nodes have no clock in common.
enum class Clocks { kCommon, kApart };

// A clock's nanoseconds as a double: exact up to 2^53, which is 104 days of uptime.
[[nodiscard]] inline double nanoseconds_of(TimePoint time) {
  return static_cast<double>(Nanoseconds(time.time_since_epoch()).count());
}

// The clock of the samples: the machine's clock, or a platform's (Platform::now).
using TellTime = std::function<TimePoint()>;

// The times of one piece of work on all ranks.
struct SampleTimes {
  // The time from the last rank's start to the last rank's end on a common clock; else the longest
  // of_rank.
  Seconds whole{0};
  std::vector<Seconds> of_rank{};  // by rank: the rank's own start to its own end
};

// Passes a barrier (untimed), then runs `work` on every rank. Collective; returns the same numbers
// on every rank.
[[nodiscard]] SampleTimes times_over_ranks(Communicator& ranks, const std::function<void()>& work,
                                           Clocks clocks, const TellTime& now = Clock::now);

// Discards the strategy's phase times and collectives so far, which belong to no sample.
// Synchronise the strategy first.
void forget_times(Strategy& strategy);

// Takes samples of a strategy's step. All calls are collective, and every rank gets the same
// numbers, so that decisions made from the numbers are the same on every rank.
class Sampler {
 public:
  // `steps_per_sample` of 1 is synchronous; more steps run freely between one barrier and one wait.
  Sampler(Strategy& strategy, Communicator& ranks, int steps_per_sample,
          Clocks clocks = Clocks::kCommon, TellTime now = Clock::now)
      : strategy_(strategy),
        ranks_(ranks),
        steps_per_sample_(steps_per_sample),
        clocks_(clocks),
        now_(std::move(now)) {}

  // Runs the steps, then waits for all own streams; returns the time per step.
  [[nodiscard]] Seconds sample();

  // Runs and discards steps until the limits are reached.
  [[nodiscard]] Warmup warm_up(const WarmupLimits& limits);

 private:
  [[nodiscard]] Seconds time_of(int steps);

  Strategy& strategy_;
  Communicator& ranks_;
  const int steps_per_sample_;
  const Clocks clocks_;
  const TellTime now_;
};

}  // namespace tandem::bench
