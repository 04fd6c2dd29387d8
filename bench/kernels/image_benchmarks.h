// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/kernels/measured_peaks.h"
#include "common/kernels/precision.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// Registers the operations on images, as register_operations registers the other operations, with
// shapes of ResNet-50 at a batch of 4; registers none where the platform's back end has none. On
// the host convolutions stand next to a bare sgemm call of the product that forward is, on columns
// that lie ready, and the loops over memory next to a copy.
void register_image_operations(Platform& platform, Precision precision, MeasuredPeaks& peaks);

}  // namespace tandem::bench
