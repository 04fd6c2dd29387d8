// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/job/job.h"
#include "bench/step/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/model/model.h"

namespace tandem::bench {

// Times the cell's step with all-reduces and without them, in turn: one strategy, made for this
// pass and warmed up as any, so that nothing of the pass is in the samples measured before. Without
// all-reduces each rank trains on its own gradients, which costs what averages would. Rank 0 prints
// the contention and writes it to the options' contention_file. Collective; the place's
// communicator becomes one that can be switched, and is left on.
void measure_contention(Bootstrap& bootstrap, Place& place, const StepOptions& options,
                        const Model& model);

}  // namespace tandem::bench
