// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/driver/google_benchmark.h"
#include "bench/driver/sampler.h"
#include "bench/job/job.h"
#include "bench/step/step_options.h"
#include "common/model/model.h"
#include "common/parallel/strategy.h"

namespace tandem::bench {

// One building of both sides of a comparison. The place of a side's memory differs from one
// building to the next, and changes the side's step time by more than the effects that pairs are
// for.
struct PairSet {
  int pairs = 0;
  bool b_first = false;  // side b is built first, warmed up first and starts each pair
};

// The sets that `pairs` are dealt out to, evenly: 20 sets, fewer where each set would get less than
// 5 pairs, and always an even number, of which every second set has b first. Below 10 pairs there
// is one set.
[[nodiscard]] std::vector<PairSet> plan_pairs(int pairs);

// One side of several whose steps take turns: a strategy of its own, and the times of its steps.
// Each side has two samples in a round, so that every side once takes the place whose sample gains
// or loses by coming later. All calls are collective.
class InterleavedSide {
 public:
  // `job` outlives this side.
  InterleavedSide(Job& job, const StepOptions& options, const Model& model, const Variant& variant);

  void warm_up(const WarmupLimits& limits) { static_cast<void>(sampler_.warm_up(limits)); }

  // Takes a sample.
  void take() { current_ += sampler_.sample().count(); }

  // Ends a round: the round's time is the mean of the two samples that this side had in the round.
  void end_round();

  // Seconds per step, by round.
  [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }

 private:
  const std::unique_ptr<Strategy> strategy_;
  Sampler sampler_;
  double current_ = 0;
  std::vector<double> seconds_;
};

// Google Benchmark's name for the pair.
[[nodiscard]] std::string pair_name(const StepOptions& step, const PairOptions& options,
                                    Backend backend);

// Times interleaved steps of two variants in this process, A B B A at a time, and reports the ratio
// B / A of such pairs of two steps each, for effects too small to be seen between launches. Both
// variants are built anew for each set of the plan (plan_pairs()). Collective.
void measure_pairs(GoogleBenchmark& driver, Bootstrap& bootstrap, Job& job, const StepOptions& step,
                   const PairOptions& options, const Model& model);

}  // namespace tandem::bench
