// SPDX-License-Identifier: Apache-2.0
//
// Figures that a step of simulated devices finds by trying: a batch that fits, and the scale of
// its operations.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/step/step_options.h"
#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/model/model.h"

namespace tandem::bench {

// The largest batch, of as many samples on each device, that fits into the memory of simulated
// devices where that of the options does not, by trying a few. Nothing where no batch fits.
[[nodiscard]] std::optional<std::int64_t> largest_fitting_batch(Bootstrap& bootstrap,
                                                                const StepOptions& options,
                                                                const Model& model);

// The error of a batch that did not fit, with the largest that does. A calibration holds only near
// the batches that were timed, so that with one the error is as it was.
[[nodiscard]] Error with_fitting_batch(const Error& error, Bootstrap& bootstrap,
                                       const StepOptions& options, const Model& model);

// If --single-step is given: sets the factor on simulated operations (options.job.scale) with
// which a step of `single` on a device's share of the batch takes that time. Throws a usage error
// where no factor does.
void scale_to_single_step(StepOptions& options);

}  // namespace tandem::bench
