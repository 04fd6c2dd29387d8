// SPDX-License-Identifier: Apache-2.0
//
// Launchers of the scale kernel, on `count` (1 or more) elements at `values`, on the current GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tandem::nccl {

cudaError_t scale_fp32(void* values, std::int64_t count, float factor, cudaStream_t stream);
cudaError_t scale_bf16(void* values, std::int64_t count, float factor, cudaStream_t stream);
cudaError_t scale_fp16(void* values, std::int64_t count, float factor, cudaStream_t stream);

}  // namespace tandem::nccl
