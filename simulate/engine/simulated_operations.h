// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/kernels/operations.h"

namespace tandem::simulated {

// Operations that take their time in a simulation and compute nothing. Throws a usage error where
// the described GPU lacks the precision. `images`: whether fp32 convolutions may be tf32.
[[nodiscard]] std::unique_ptr<Operations> make_simulated_operations(Device& device,
                                                                    Precision precision,
                                                                    const ImageOptions& images);

}  // namespace tandem::simulated
