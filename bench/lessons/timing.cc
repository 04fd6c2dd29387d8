// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/timing.h"

#include <fmt/format.h>

#include "common/stats/comparison.h"

namespace tandem::bench {
namespace {

constexpr int kDiscarded = 4;  // rounds in which caches, kernels and first touches settle

Seconds time_of_step(Strategy& strategy) {
  const TimePoint start = Clock::now();
  strategy.step();
  strategy.synchronize();
  return Clock::now() - start;
}

}  // namespace

TrainingOptions timed_training(std::int64_t batch) {
  TrainingOptions options;
  options.global_batch = batch;
  options.phases.timing = PhaseTiming::kOff;
  return options;
}

TimedWay step_of(Strategy& strategy) {
  return [&strategy] { return time_of_step(strategy); };
}

TimedWay step_of_first_rank(Communicator& ranks, Strategy* strategy) {
  return [&ranks, strategy] {
    ranks.barrier();
    const Seconds mine = strategy == nullptr ? Seconds{0} : time_of_step(*strategy);
    return Seconds(ranks.all_gather(mine.count()).front());
  };
}

TimedWay step_of_all_ranks(Communicator& ranks, Strategy& strategy) {
  return [sampler = Sampler(strategy, ranks, 1)]() mutable { return sampler.sample(); };
}

std::vector<std::vector<double>> interleave(const std::vector<TimedWay>& ways, int rounds) {
  std::vector<std::vector<double>> seconds(ways.size());
  for (int round = -kDiscarded; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t way = round % 2 == 0 ? turn : ways.size() - 1 - turn;
      const double sample = ways[way]().count();
      if (round >= 0) seconds[way].push_back(sample);
    }
  }
  return seconds;
}

stats::Estimate ratio_of(Strategy& first, Strategy& second, int rounds) {
  const auto seconds = interleave({step_of(first), step_of(second)}, rounds);
  return stats::median_of_paired_ratios(seconds[0], seconds[1]);
}

LessonVerdict above(const stats::Estimate& estimate, double bar) {
  if (!estimate.interval || estimate.interval->holds(bar)) return LessonVerdict::kNotDecidable;
  return holds_if(estimate.interval->low > bar);
}

std::string text_of(const stats::Estimate& estimate) {
  if (!estimate.interval) return fmt::format("{:.2f} [no interval]", estimate.center);
  return fmt::format("{:.2f} [{:.2f} .. {:.2f}]", estimate.center, estimate.interval->low,
                     estimate.interval->high);
}

std::string unresolved_note(LessonVerdict verdict, double bar) {
  if (verdict != LessonVerdict::kNotDecidable) return "";
  return fmt::format(", not resolved against {}", bar);
}

}  // namespace tandem::bench
