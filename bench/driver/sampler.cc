// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/sampler.h"

#include <algorithm>

#include "common/stats/summary.h"

namespace tandem::bench {

void replay_samples(benchmark::State& state, std::span<const double> seconds) {
  std::size_t sample = 0;
  for ([[maybe_unused]] auto iteration : state) state.SetIterationTime(seconds[sample++]);
  state.counters["p50_us"] = stats::percentile(seconds, 50) * 1e6;
  state.counters["p95_us"] = stats::percentile(seconds, 95) * 1e6;
  if (const auto p99 = stats::percentile_99(seconds)) state.counters["p99_us"] = *p99 * 1e6;
}

SampleTimes times_over_ranks(Communicator& ranks, const std::function<void()>& work, Clocks clocks,
                             const TellTime& now) {
  ranks.barrier();
  const TimePoint start = now();
  work();
  const TimePoint end = now();
  // The exchange comes after the clock was read, and belongs to no sample.
  const std::vector<double> starts = ranks.all_gather(nanoseconds_of(start));
  const std::vector<double> ends = ranks.all_gather(nanoseconds_of(end));
  SampleTimes times;
  for (std::size_t rank = 0; rank < starts.size(); ++rank) {
    times.of_rank.emplace_back((ends[rank] - starts[rank]) * 1e-9);
  }
  const double first = *std::max_element(starts.begin(), starts.end());
  const double last = *std::max_element(ends.begin(), ends.end());
  times.whole = clocks == Clocks::kCommon
                    ? Seconds((last - first) * 1e-9)
                    : *std::max_element(times.of_rank.begin(), times.of_rank.end());
  return times;
}

void forget_times(Strategy& strategy) {
  static_cast<void>(strategy.collect_phases());
  static_cast<void>(strategy.collect_collectives());
}

Seconds Sampler::time_of(int steps) {
  const auto work = [this, steps] {
    for (int step = 0; step < steps; ++step) strategy_.step();
    strategy_.synchronize();
  };
  return times_over_ranks(ranks_, work, clocks_, now_).whole;
}

Seconds Sampler::sample() { return time_of(steps_per_sample_) / steps_per_sample_; }

Warmup Sampler::warm_up(const WarmupLimits& limits) {
  Warmup warmup;
  warmup.first_step = time_of(1);
  warmup.steps = 1;
  warmup.time = warmup.first_step;
  std::vector<Seconds> samples;
  bool is_steady = true;
  while (samples.empty() || warmup.steps < limits.steps || warmup.time < Seconds(limits.time) ||
         (!is_steady && warmup.time < Seconds(limits.cap))) {
    samples.push_back(sample());
    warmup.steps += steps_per_sample_;
    warmup.time += samples.back() * steps_per_sample_;
    if (limits.is_steady) is_steady = limits.is_steady();
  }
  const std::size_t later = samples.size() - samples.size() / 2;
  Seconds sum{0};
  for (std::size_t i = samples.size() - later; i < samples.size(); ++i) sum += samples[i];
  warmup.per_sample = sum * steps_per_sample_ / static_cast<double>(later);
  forget_times(strategy_);
  return warmup;
}

}  // namespace tandem::bench
