// SPDX-License-Identifier: Apache-2.0
//
// A workload with seconds in a simulation, where no products have to be found that take these
// seconds: each pass's products take them, whatever they compute.
#pragma once

#include "common/hardware/calibration.h"
#include "common/kernels/precision.h"
#include "common/model/workload.h"
#include "common/optim/optimizer.h"

namespace tandem::bench {

// The workload with products of a row for each sample, so that their size tells the batch.
[[nodiscard]] Workload with_a_row_per_sample(Workload workload);

// The seconds of such a workload as a calibration has them, at each batch of the file: a pass's
// seconds are shared out evenly over its products, and its other operations take no time.
// Loss and update are not among them.
[[nodiscard]] MeasuredModel times_of_passes(const Workload& workload, Precision precision,
                                            const OptimizerOptions& optimizer);

}  // namespace tandem::bench
