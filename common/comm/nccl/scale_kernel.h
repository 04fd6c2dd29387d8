// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tandem::nccl {

// Launches the scale kernel on `count` (1 or more) elements at `values`, fp32, bf16 or fp16, on the
// current GPU.
template <class T>
cudaError_t scale(T* values, std::int64_t count, float factor, cudaStream_t stream);

}  // namespace tandem::nccl
