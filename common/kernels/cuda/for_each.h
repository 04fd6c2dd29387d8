// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tandem::cuda {

// Queues `function`, one of TANDEM_EACH_ELEMENTWISE (functions.h), for elements 0 .. count - 1 on
// the current GPU; in packs where function.packed(). Returns what the launch returned.
template <class Function>
[[nodiscard]] cudaError_t for_each(cudaStream_t stream, std::int64_t count,
                                   const Function& function);

}  // namespace tandem::cuda
