// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/driver/google_benchmark.h"
#include "bench/job/job.h"
#include "bench/step/measurement.h"
#include "bench/step/step_options.h"
#include "common/model/model.h"

namespace tandem::bench {

// Times the step that the options name: warm-up, then as many samples as the options ask for.
// Collective.
[[nodiscard]] Measurement measure_step(GoogleBenchmark& driver, Bootstrap& bootstrap, Place& place,
                                       const StepOptions& options, const Model& model);

// Times the steps of several strategies of one job, one after another, with all strategies held at
// once; strategies that the filter leaves out are not made. Collective.
void measure_listed(GoogleBenchmark& driver, Bootstrap& bootstrap, Place& place,
                    const std::vector<StepOptions>& all, const Model& model);

}  // namespace tandem::bench
