// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "bench/driver/sampler.h"
#include "bench/job/job.h"
#include "bench/step/step_options.h"
#include "common/model/model.h"
#include "common/parallel/strategy.h"

namespace tandem::bench {

// One side of several whose steps take turns: a strategy of its own, and the times of its steps.
// Each side has two samples in a round, so that every side once takes the place whose sample gains
// or loses by coming later. All calls are collective.
class InterleavedSide {
 public:
  // `place` outlives this side.
  InterleavedSide(Place& place, const StepOptions& options, const Model& model,
                  const Variant& variant);

  void warm_up(const StepOptions& options);

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

}  // namespace tandem::bench
