// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/model.h"
#include "common/model/workload.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// A model as a measured workload: layer by layer the enqueued operations, and the time of those
// operations on `device` at each of the ascending batches. Products are not calibrated. To be
// called where nothing else runs.
[[nodiscard]] Workload measure_workload(Platform& platform, Device& device, const Model& model,
                                        const std::vector<std::int64_t>& batches,
                                        Precision precision);

// `batch`, its half, quarter and eighth, rounded down to 1 or more, ascending: the shares of 1 to 8
// devices lie between these batches.
[[nodiscard]] std::vector<std::int64_t> batches_to_measure(std::int64_t batch);

}  // namespace tandem::bench
