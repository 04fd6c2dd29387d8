// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tandem::cuda {

// Queues Orthogonalise (operations.h) on the current GPU. One block does it all: the rows follow
// from one another, and where this is used (PowerSGD) they are few. Returns what the launch
// returned.
[[nodiscard]] cudaError_t orthogonalise(cudaStream_t stream, std::int64_t rows,
                                        std::int64_t columns, float* matrix);

}  // namespace tandem::cuda
