// SPDX-License-Identifier: Apache-2.0
//
// The seam between the registry of operations and a simulation of devices (simulate/engine), which
// registers its operations here before it makes a device.
#pragma once

#include <memory>

#include "common/kernels/operations.h"

namespace tandem {

using MakeOperations = std::unique_ptr<Operations> (*)(Device& device, Precision precision,
                                                       const ImageOptions& images);

// Operations of simulated devices are made by `make` from now on. Thread-safe.
void register_simulated_operations(MakeOperations make);

}  // namespace tandem
