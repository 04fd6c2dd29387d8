// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/job.h"
#include "bench/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/model/model.h"

namespace tandem::bench {

// The cell's step with all-reduces and without them, in turn: one strategy, made for this and
// warmed up as any, so that nothing of it is in what was measured before. Without them each rank
// trains on its own gradients, which costs what averages would. Rank 0 prints what it finds and
// writes it to the options' contention_file. Collective; the place's communicator can be switched
// from then on, and is on.
void measure_contention(Bootstrap& bootstrap, Place& place, const StepOptions& options,
                        const Model& model);

}  // namespace tandem::bench
