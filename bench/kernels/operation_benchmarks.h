// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/kernels/measured_peaks.h"
#include "common/kernels/precision.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// Registers with Google Benchmark every operation of the platform's first device, on the host next
// to the bare operation. Each rate is compared with the device's peaks; products are in
// `precision`. Platform and peaks outlive the run.
void register_operations(Platform& platform, Precision precision, MeasuredPeaks& peaks);

}  // namespace tandem::bench
