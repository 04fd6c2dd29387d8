// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "common/kernels/precision.h"
#include "common/model/workload.h"
#include "common/runtime/device.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// The result of a calibration at one batch, forward and backward of all layers together.
struct CalibratedBatch {
  std::int64_t batch = 0;
  double wanted_seconds = 0;
  double replayed_seconds = 0;
};

struct Calibration {
  Workload workload;  // the workload with products for every pass
  std::vector<CalibratedBatch> batches{};
};

// Finds products that take each pass's measured seconds on `device`: replays the layers, times the
// replay as time_layers does, and corrects the rows of each pass by the pass's error, some times
// over, at each batch. Where a pass's own operations, one for each tensor, take longer than the
// pass's seconds, later passes make up for the excess. To be called where nothing else runs. The
// workload is a measured one.
[[nodiscard]] Calibration calibrate(Platform& platform, Device& device, Workload workload,
                                    Precision precision);

}  // namespace tandem::bench
