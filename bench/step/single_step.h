// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/step/step_options.h"

namespace tandem::bench {

// Where --single-step is given: sets the factor on simulated operations (options.job.scale) with
// which a step of `single` on a device's share of the batch takes that time. Throws a usage error
// where no factor does.
void scale_to_single_step(StepOptions& options);

}  // namespace tandem::bench
