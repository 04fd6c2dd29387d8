// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/runtime/cuda_module.h"

namespace tandem::cuda {

// Whether CUDA can be used for these options: driver, GPUs, and a context on each GPU needed.
[[nodiscard]] CudaProbe probe(const PlatformOptions& options);

}  // namespace tandem::cuda
