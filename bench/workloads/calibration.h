// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/kernels/operations.h"
#include "common/kernels/precision.h"
#include "common/model/workload.h"
#include "common/runtime/device.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// Seconds that a row adds to a product of some width on a device, each width measured once.
class RowTimes {
 public:
  RowTimes(Device& device, Precision precision);

  // Seconds per row of a product of rows x width times width x width.
  [[nodiscard]] double at(std::int64_t width);

  // The largest width of which a product of `seconds` has as many rows as columns or more: the
  // product then runs as near to the speed of large products as its seconds allow.
  [[nodiscard]] std::int64_t width_for(double seconds);

 private:
  [[nodiscard]] double measure(std::int64_t width);

  Device& device_;
  const DType type_;
  std::unique_ptr<Operations> operations_;
  std::unique_ptr<Stream> stream_;
  std::map<std::int64_t, double> seconds_;  // seconds per row, by width
};

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
