// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/driver/google_benchmark.h"
#include "bench/job/job.h"
#include "bench/step/step_options.h"
#include "common/model/model.h"

namespace tandem::bench {

// Times interleaved steps of two variants in this process, A B B A at a time, and reports the ratio
// B / A of such pairs of two steps each, for effects too small to be seen between launches. Both
// variants are built anew for each set of the plan (pair_plan.h). Collective.
void measure_pairs(GoogleBenchmark& driver, Place& place, const StepOptions& options,
                   const Model& model);

}  // namespace tandem::bench
