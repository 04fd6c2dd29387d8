// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/runtime/cuda/cuda_stream.h"
#include "common/runtime/span.h"

namespace tandem::nccl {

// Enqueues values *= factor: multiplied in fp32 and rounded once. NCCL's own average scales each
// part before the sum, by a factor in the elements' type (bf16's 1/3 is 0.2 % off).
void scale_in_place(cuda::CudaStream& stream, AnySpan values, float factor);

// What a test puts in its place.
using Scale = decltype(&scale_in_place);

}  // namespace tandem::nccl
