// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/job.h"
#include "bench/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/model/model.h"
#include "common/results/launch_record.h"

namespace tandem::bench {

// Some steady steps of the cell, recorded: a pass of its own, with a strategy of its own, so that
// nothing of it is in what was measured before. Warmed up and sampled as that was. Rank 0 brings
// all ranks' timelines onto its clock and writes them to the options' trace_file, with `untraced`,
// what was measured, beside them. Collective.
void trace_steps(Bootstrap& bootstrap, Place& place, const StepOptions& options, const Model& model,
                 const results::LaunchRecord& untraced);

}  // namespace tandem::bench
