// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this module, by the address that CUDA knows each by. CUDA loads a kernel onto a
// GPU when it is first launched there, and that may wait for what runs on it: behind a collective
// that waits for a peer whose launch comes later, for ever. So they are loaded when a GPU is
// opened. (Not by CUDA_MODULE_LOADING=EAGER, which would load all of cuBLASLt.)
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

namespace tandem::cuda {

// Every kernel that launch.cuh launches; they are in it once the module is loaded.
[[nodiscard]] const std::vector<const void*>& own_kernels();

// Loads all of them onto the current GPU; the first error.
[[nodiscard]] cudaError_t load_own_kernels();

// Adds one; always true. For initialisers of variables alone, which run when the module is loaded.
bool add_own_kernel(const void* kernel);

}  // namespace tandem::cuda
