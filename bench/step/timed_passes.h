// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/precision.h"
#include "common/model/workload.h"
#include "common/optim/optimizer.h"
#include "simulate/cost/calibration.h"

namespace tandem::bench {

// The seconds of a measured workload as a calibration has them, at each batch of the file: a pass's
// seconds are shared out evenly over its products (replay_plan.h), and its other operations take no
// time. Loss and update are not among them.
[[nodiscard]] MeasuredModel times_of_passes(const Workload& workload, Precision precision,
                                            const OptimizerOptions& optimizer);

}  // namespace tandem::bench
