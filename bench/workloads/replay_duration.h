// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/job/job.h"
#include "bench/step/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/model/workload.h"

namespace tandem::bench {

// Refuses a workload whose products alone take longer than an hour in the fewest steps that a
// launch has, six times the time that `tandem run` gives a launch. On the host the duration is at
// the speed of one core, measured where the duration may exceed the limit; on GPUs it is at a speed
// that no GPU has yet. Collective: all ranks refuse the workload, or none.
void check_duration(Bootstrap& bootstrap, const Place& place, const StepOptions& options,
                    const Workload& workload);

}  // namespace tandem::bench
