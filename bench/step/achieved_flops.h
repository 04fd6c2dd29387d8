// SPDX-License-Identifier: Apache-2.0
//
// The FLOP/s that a launch achieved, and the peak that the FLOP/s are compared with.
#pragma once

#include <optional>
#include <string>

#include "bench/job/job.h"
#include "bench/step/measurement.h"
#include "bench/step/step_options.h"
#include "common/model/model.h"

namespace tandem::bench {

// The GFLOP/s of one device: the FLOPs of the model's matrix products for the global batch, over
// the mean step and the number of devices.
[[nodiscard]] double achieved_gflops(const StepOptions& options, const Model& model,
                                     const Measurement& measured);

// The peak in GFLOP/s that the options give or ask for; 0 where the options do neither. The first
// device is measured while the others wait. Collective.
[[nodiscard]] double find_peak(Place& place, const StepOptions& options);

// A warning for the reader of figures in this precision about this machine; empty where the figures
// need no warning.
[[nodiscard]] std::optional<std::string> precision_warning(Backend backend, Precision precision);

// Where the peak is known, writes a line to rank 0's stderr that holds the achieved FLOP/s against
// the peak.
void report_flops(const Place& place, const StepOptions& options, const Model& model,
                  const Measurement& measured);

}  // namespace tandem::bench
