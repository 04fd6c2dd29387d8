// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/kernels/listed_kernel.h"
#include "common/kernels/operations.h"

namespace tandem::simulated {

// Operations that take their time in a simulation and compute nothing. Throws a usage error where
// the described GPU lacks the precision. `images`: whether fp32 convolutions may be tf32.
[[nodiscard]] std::unique_ptr<Operations> make_simulated_operations(Device& device,
                                                                    Precision precision,
                                                                    const ImageOptions& images);

// Whether listed kernels have times on the device: by its description, where no calibration has
// those of other operations.
[[nodiscard]] bool takes_listed(Device& device);

// Enqueues operations that take the listed kernel's time, as often as it counts.
void enqueue_listed(Stream& stream, const ListedKernel& kernel);

}  // namespace tandem::simulated
