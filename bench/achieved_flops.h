// SPDX-License-Identifier: Apache-2.0
//
// What a launch computed per second, and what it is held against.
#pragma once

#include <optional>
#include <string>

#include "bench/job.h"
#include "bench/measurement.h"
#include "bench/step_options.h"
#include "common/model/model.h"

namespace tandem::bench {

// Per device, in GFLOP/s: those of the model's matrix products for the global batch, over the mean
// step and the number of devices.
[[nodiscard]] double achieved_gflops(const StepOptions& options, const Model& model,
                                     const Measurement& measured);

// In GFLOP/s, the peak that the options give or ask for; 0 where they do neither. Measured on the
// first device while the others wait. Collective.
[[nodiscard]] double find_peak(Place& place, const StepOptions& options);

// What the reader of figures in this precision has to know about this machine, if anything.
[[nodiscard]] std::optional<std::string> precision_warning(Backend backend, Precision precision);

// Where the peak is known, a line on rank 0's stderr that holds the one against the other.
void report_flops(const Place& place, const StepOptions& options, const Model& model,
                  const Measurement& measured);

}  // namespace tandem::bench
