// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/job/job.h"
#include "bench/step/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/model/model.h"
#include "common/results/launch_record.h"

namespace tandem::bench {

// Records some steady steps of the cell in a pass of its own, with a strategy of its own, so that
// nothing of the recording is in the samples measured before. The pass is warmed up and sampled as
// those samples were. Rank 0 brings all ranks' timelines onto its clock and writes the timelines to
// the file, with `untraced`, the record of the measured samples, beside them. Collective.
void trace_steps(Bootstrap& bootstrap, Job& job, const StepOptions& step, const Model& model,
                 const TraceOptions& options, const results::LaunchRecord& untraced);

}  // namespace tandem::bench
