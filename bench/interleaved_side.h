// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "bench/job.h"
#include "bench/sampler.h"
#include "bench/step_options.h"
#include "common/model/model.h"
#include "common/parallel/strategy.h"

namespace tandem::bench {

// One side of several whose steps take turns: a strategy of its own, and the times of its steps.
// Each side has two samples in a round, so that whatever the one who goes later gains or loses by
// it, all do once. All calls are collective.
class InterleavedSide {
 public:
  // `place` outlives this.
  InterleavedSide(Place& place, const StepOptions& options, const Model& model,
                  const Variant& variant);

  void warm_up(const StepOptions& options);

  // A sample.
  void take() { current_ += sampler_.sample().count(); }

  // Ends a round: its time is the mean of the two samples that this side had in it.
  void end_round();

  // Per step and round.
  [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }

 private:
  const std::unique_ptr<Strategy> strategy_;
  Sampler sampler_;
  double current_ = 0;
  std::vector<double> seconds_;
};

}  // namespace tandem::bench
