// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/job/job.h"
#include "bench/step/step_options.h"
#include "common/model/model.h"

namespace tandem::bench {

struct Verification {
  bool passed = false;
  std::string text;  // one line: what was compared, and how far apart
};

// Trains some steps with the strategy, and with `single` on the whole batch on rank 0, and compares
// every step's gradients and the weights, tensor by tensor; ranks must hold the same bits. Where a
// model computes otherwise on shards, `single` takes the shards in turn, each step from the
// strategy's weights. Nothing is timed. Collective; returns the same text on all ranks. "not
// verified: does not fit" where there is no room for both trainings, which does not count as
// passed.
[[nodiscard]] Verification verify(Bootstrap& bootstrap, Place& place, const StepOptions& options,
                                  const Model& model);

}  // namespace tandem::bench
