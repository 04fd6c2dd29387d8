// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/kernels/options.h"
#include "common/runtime/platform.h"
#include "common/stats/estimate.h"

namespace tandem::bench {

// The speed of a step of `single` relative to the bare products of the step's shapes: FLOP/s over
// FLOP/s of the same FLOPs, which is the bare products' time over the step's.
struct StepShare {
  stats::Estimate products;  // share of the phases forward and backward
  stats::Estimate whole;     // share of the whole step, by the host's clock
  double bare_gflops = 0;    // GFLOP/s of the bare products, in the median over all pairs
};

// The share in words: "forward and backward at 0.9312 of the FLOP/s of bare products (95 % interval
// 0.9301 to 0.9322); the whole step at ..."
[[nodiscard]] std::string to_text(const StepShare& share);

// Measures the options' step on the first device in pairs with the bare products, both built anew
// for each set of pairs, and reports a Google Benchmark entry and a line for people. Bare products,
// forward and backward are timed by the device's own clock. Throws usage errors.
void run_step_share(const KernelOptions& options, Platform& platform);

}  // namespace tandem::bench
