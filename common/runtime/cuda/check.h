// SPDX-License-Identifier: Apache-2.0
//
// What a CUDA call returned, as an error of ours. Every call goes through one of these.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "common/base/error.h"

namespace tandem::cuda {

// True for errors after which the GPU's context in this process is lost for good: every later call
// on it returns the same error.
[[nodiscard]] bool is_sticky(cudaError_t status);

// "cudaFree(data) on GPU 1: cudaErrorInvalidValue (invalid argument)".
[[nodiscard]] std::string describe(cudaError_t status, const char* call, int gpu);

// Throws where `status` is an error, and clears CUDA's note of it, so that no later call is blamed.
void check(cudaError_t status, const char* call, int gpu);

// For destructors: says so once on stderr, silent where the runtime is already shutting down.
void warn(cudaError_t status, const char* call, int gpu) noexcept;

}  // namespace tandem::cuda

// TANDEM_CUDA(gpu, cudaSetDevice(gpu)) throws; TANDEM_CUDA_NOTHROW is the form for destructors.
#define TANDEM_CUDA(gpu, call) ::tandem::cuda::check((call), #call, (gpu))
#define TANDEM_CUDA_NOTHROW(gpu, call) ::tandem::cuda::warn((call), #call, (gpu))
