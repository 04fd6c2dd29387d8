// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/platform.h"

namespace tandem::cuda {

// Logical devices on the GPUs that CUDA shows, device i on GPU i. More devices than GPUs is a usage
// error unless options.oversubscribe; then device i lies on GPU i % n. Enables peer access between
// the GPUs in use where the machine has it; copies go through the host where it has not.
[[nodiscard]] std::unique_ptr<Platform> make_cuda_platform(const PlatformOptions& options);

}  // namespace tandem::cuda
