// SPDX-License-Identifier: Apache-2.0
//
// The parts that lessons about times share: interleaved samples, ratios with their interval,
// verdicts from ratios.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/driver/sampler.h"
#include "bench/lessons/classroom.h"
#include "common/comm/communicator.h"
#include "common/parallel/strategy.h"
#include "common/stats/estimate.h"

namespace tandem::bench {

// Takes one sample of one way to train.
using TimedWay = std::function<Seconds()>;

// Training options of a batch to be timed: nothing but the step is done.
[[nodiscard]] TrainingOptions timed_training(std::int64_t batch);

// Times a step of this process and the wait for the step. `strategy` outlives the sample.
[[nodiscard]] TimedWay step_of(Strategy& strategy);

// step_of() on rank 0 alone, where `strategy` is not null, while the other ranks are parked.
// Returns the same number on every rank.
[[nodiscard]] TimedWay step_of_first_rank(Communicator& ranks, Strategy* strategy);

// Times a step of all ranks.
[[nodiscard]] TimedWay step_of_all_ranks(Communicator& ranks, Strategy& strategy);

// Seconds, by way and round. In every other round the ways come in reverse order: a way that gains
// or loses by the sample before its own does so in half of the rounds only. The first rounds are
// discarded.
[[nodiscard]] std::vector<std::vector<double>> interleave(const std::vector<TimedWay>& ways,
                                                          int rounds);

// Holds above the bar, does not hold below the bar, and is undecided where the interval contains
// the bar.
[[nodiscard]] LessonVerdict above(const stats::Estimate& estimate, double bar);

// The verdict on a claim that has to hold in both cases: one case that contradicts the claim
// refutes it.
[[nodiscard]] constexpr LessonVerdict in_both(LessonVerdict a, LessonVerdict b) {
  for (const LessonVerdict verdict : {LessonVerdict::kDoesNotHold, LessonVerdict::kNotDecidable}) {
    if (a == verdict || b == verdict) return verdict;
  }
  return LessonVerdict::kHolds;
}

// The step time of `second` over that of `first`, interleaved.
[[nodiscard]] stats::Estimate ratio_of(Strategy& first, Strategy& second, int rounds);

// The estimate with its interval: "1.42 [1.33 .. 1.52]".
[[nodiscard]] std::string text_of(const stats::Estimate& estimate);

// ", not resolved against 1.05" for an undecided verdict, else an empty text.
[[nodiscard]] std::string unresolved_note(LessonVerdict verdict, double bar);

}  // namespace tandem::bench
