// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/job.h"
#include "bench/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/model/workload.h"

namespace tandem::bench {

// Refuses a workload that would never end here: whose products alone take longer than an hour in
// the fewest steps that a launch has, six times what `tandem run` gives a launch. On the host at
// the speed of one core, measured where it may come to that; on GPUs at a speed that none has yet.
// Collective: all ranks refuse it, or none.
void check_duration(Bootstrap& bootstrap, const Place& place, const StepOptions& options,
                    const Workload& workload);

}  // namespace tandem::bench
