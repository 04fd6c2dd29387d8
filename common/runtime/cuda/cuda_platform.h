// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "common/runtime/cuda_module.h"
#include "common/runtime/platform.h"

namespace tandem::cuda {

// The GPUs that a platform opens: pure rules over the ordinals that CUDA shows.

// The ordinals to open of `visible` ones, in the order of devices: those named, else all, and of
// these as many as there are devices; for a process with a device of its own that one's, counted
// round where there are fewer. What is named and not there is left out.
[[nodiscard]] std::vector<int> gpus_to_open(const PlatformOptions& options, int visible);

// A usage error where a name is not one of the visible GPUs', or comes twice, or where devices of
// one process would have to share GPUs unasked.
void check_gpus(const PlatformOptions& options, int visible);

// Whether CUDA can be used for these options: driver, GPUs, and a context on each GPU needed.
[[nodiscard]] CudaProbe probe(const PlatformOptions& options);

// Logical devices on the GPUs that CUDA shows or options.gpus names, device i on the i-th of them.
// More devices than GPUs is a usage error unless options.oversubscribe; then device i lies on GPU
// i % n. A process with a device of its own opens that one's GPU alone. Enables peer access between
// the GPUs in use where the machine has it and options.peer_access allows it; copies go through the
// host elsewhere.
[[nodiscard]] std::unique_ptr<Platform> make_cuda_platform(const PlatformOptions& options);

}  // namespace tandem::cuda
