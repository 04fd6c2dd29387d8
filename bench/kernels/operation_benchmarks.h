// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/kernels/measured_peaks.h"
#include "common/kernels/precision.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// Registers with Google Benchmark: every operation of the platform's first device, on the host next
// to its yardstick, and by the plain loops that it is checked against (naive/...), each held
// against the device's peaks; products in `precision`. Platform and peaks outlive the run.
void register_operations(Platform& platform, Precision precision, MeasuredPeaks& peaks);

// A training step of `single` next to the bare products of its layers, and what an operation costs
// that does nothing.
void register_steps(Platform& platform, Precision precision, MeasuredPeaks& peaks);

}  // namespace tandem::bench
