// SPDX-License-Identifier: Apache-2.0
#include "bench/sampler.h"

#include <algorithm>
#include <vector>

namespace tandem::bench {
namespace {

// Nanoseconds as a double: exact up to 2^53, which is 104 days of uptime.
double ticks(Nanoseconds time) { return static_cast<double>(time.count()); }

double largest(Communicator& ranks, Nanoseconds mine) {
  const std::vector<double> all = ranks.all_gather(ticks(mine));
  return *std::max_element(all.begin(), all.end());
}

}  // namespace

Seconds timed_over_ranks(Communicator& ranks, const std::function<void()>& work, Clocks clocks) {
  ranks.barrier();
  const TimePoint start = Clock::now();
  work();
  const TimePoint end = Clock::now();
  // The exchange comes after the clock was read, and is nobody's sample.
  if (clocks == Clocks::kApart) return Seconds(largest(ranks, end - start) * 1e-9);
  const double first = largest(ranks, start.time_since_epoch());
  const double last = largest(ranks, end.time_since_epoch());
  return Seconds((last - first) * 1e-9);
}

Seconds Sampler::time_of(int steps) {
  const auto work = [this, steps] {
    for (int step = 0; step < steps; ++step) strategy_.step();
    strategy_.synchronize();
  };
  return timed_over_ranks(ranks_, work, clocks_);
}

Seconds Sampler::sample() { return time_of(steps_per_sample_) / steps_per_sample_; }

Warmup Sampler::warm_up(int steps, Nanoseconds time) {
  Warmup warmup;
  warmup.first_step = time_of(1);
  warmup.steps = 1;
  warmup.time = warmup.first_step;
  std::vector<Seconds> samples;
  while (samples.empty() || warmup.steps < steps || warmup.time < Seconds(time)) {
    samples.push_back(sample());
    warmup.steps += steps_per_sample_;
    warmup.time += samples.back() * steps_per_sample_;
  }
  const std::size_t later = samples.size() - samples.size() / 2;
  Seconds sum{0};
  for (std::size_t i = samples.size() - later; i < samples.size(); ++i) sum += samples[i];
  warmup.per_sample = sum * steps_per_sample_ / static_cast<double>(later);
  // What was marked so far belongs to no sample.
  static_cast<void>(strategy_.collect_phases());
  return warmup;
}

}  // namespace tandem::bench
