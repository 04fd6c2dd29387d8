// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "common/base/units.h"
#include "common/kernels/image_operations.h"
#include "common/runtime/span.h"

namespace tandem::cuda {

// Scratch memory of either pass.
[[nodiscard]] Bytes batch_norm_scratch(const BatchNormShape& shape);

// Queues the sums over rows, and what they make of each element, on the current GPU. The first
// error of a launch.
[[nodiscard]] cudaError_t enqueue_batch_norm(cudaStream_t stream, ByteSpan scratch,
                                             const BatchNormForward& op);
[[nodiscard]] cudaError_t enqueue_batch_norm(cudaStream_t stream, ByteSpan scratch,
                                             const BatchNormBackward& op);

}  // namespace tandem::cuda
