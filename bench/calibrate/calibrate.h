// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/job/job.h"
#include "bench/step/step_options.h"

namespace tandem::bench {

// Times the operations of the step's model in the steps of `single`, at each of the batches to
// calibrate, and adds them to the calibration file; a new file also gets what the machine costs
// beside operations, with `cores`, OS numbers, as its devices on the host. Prints on standard
// output what was measured. Throws usage errors: also where the file is there and is no
// calibration, or is another machine's, back end's or precision's.
void write_calibration(Job& job, const StepOptions& step, const CalibrationOptions& options,
                       const std::vector<int>& cores);

}  // namespace tandem::bench
