// SPDX-License-Identifier: Apache-2.0
//
// What lessons about times share: interleaved samples, ratios with their interval, verdicts from
// them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/lessons/lesson.h"
#include "bench/sampler.h"
#include "common/comm/communicator.h"
#include "common/parallel/strategy.h"
#include "common/parallel/training_options.h"
#include "common/stats/estimate.h"

namespace tandem::bench {

// Takes one sample of one way to train.
using Sample = std::function<Seconds()>;

// A batch to be timed: nothing but the step is done.
[[nodiscard]] TrainingOptions timed_training(std::int64_t batch);

// A step of this process and the wait for it. `strategy` outlives it.
[[nodiscard]] Sample step_of(Strategy& strategy);

// The same on rank 0 alone, where `strategy` is not null, while the others are parked. The same
// number on every rank.
[[nodiscard]] Sample step_of_first_rank(Communicator& ranks, Strategy* strategy);

// A step of all ranks.
[[nodiscard]] Sample step_of_all_ranks(Communicator& ranks, Strategy& strategy);

// Seconds, per way and round. In every other round the ways come in reverse order: whatever one
// gains or loses by what ran before it, it does in half of them only. The first rounds are
// discarded.
[[nodiscard]] std::vector<std::vector<double>> interleave(const std::vector<Sample>& ways,
                                                          int rounds);

// Holds above the bar, does not below it, undecided where the interval has the bar in it.
[[nodiscard]] Verdict above(const stats::Estimate& estimate, double bar);

// "1.42 [1.33 .. 1.52]"
[[nodiscard]] std::string text_of(const stats::Estimate& estimate);

// ", not resolved against 1.05" for what is not decided, else nothing.
[[nodiscard]] std::string unresolved_note(Verdict verdict, double bar);

}  // namespace tandem::bench
