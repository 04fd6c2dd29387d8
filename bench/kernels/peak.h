// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/kernels/options.h"

namespace tandem::bench {

// Measures the peak of the first device in each precision that the options ask for, as Google
// Benchmark's entries and as a table for people. Throws usage errors.
void run_peak(const KernelOptions& options, Platform& platform);

}  // namespace tandem::bench
