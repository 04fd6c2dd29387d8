// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/runtime/cuda_module.h"

namespace tandem::cuda {

// Whether CUDA can be used for `devices` devices: driver, GPUs, and a context on each GPU needed.
[[nodiscard]] CudaProbe probe(int devices);

}  // namespace tandem::cuda
