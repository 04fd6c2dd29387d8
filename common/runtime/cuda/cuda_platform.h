// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/platform.h"

namespace tandem::cuda {

// Logical devices on the GPUs that CUDA shows or options.gpus names, device i on the i-th of them.
// More devices than GPUs is a usage error unless options.oversubscribe; then device i lies on GPU
// i % n. A process with a device of its own opens that one's GPU alone. Enables peer access between
// the GPUs in use where the machine has it and options.peer_access allows it; copies go through the
// host elsewhere.
[[nodiscard]] std::unique_ptr<Platform> make_cuda_platform(const PlatformOptions& options);

}  // namespace tandem::cuda
