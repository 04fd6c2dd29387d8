// SPDX-License-Identifier: Apache-2.0
//
// The seam between the registry of operations and a simulation of devices (simulate/engine), which
// registers its operations and what runs listed kernels here before it makes a device.
#pragma once

#include <memory>

#include "common/kernels/listed_kernel.h"
#include "common/kernels/operations.h"

namespace tandem {

using MakeOperations = std::unique_ptr<Operations> (*)(Device& device, Precision precision,
                                                       const ImageOptions& images);

struct SimulatedKernels {
  MakeOperations make_operations;
  bool (*takes_listed)(Device& device);
  void (*enqueue_listed)(Stream& stream, const ListedKernel& kernel);
};

// Simulated devices compute by `kernels` from now on, which outlives them. Thread-safe.
void register_simulated_kernels(const SimulatedKernels& kernels);

}  // namespace tandem
