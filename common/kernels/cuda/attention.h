// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "common/kernels/cuda/attention_plan.h"
#include "common/kernels/cuda/matrix_products.h"
#include "common/kernels/operations.h"

namespace tandem::cuda {

// Scratch memory of attention: of scratch_size() of these tiles and the operands' type.
struct ScoreMemory {
  ScoreTiles tiles;
  ByteSpan scratch;
};

// Queues attention on `stream`, of the products' GPU, which is current: for each sample, batches of
// heads one after the other, products and own softmax in between. Returns the first error of a
// launch; throws as the products do.
[[nodiscard]] cudaError_t enqueue_attention(cudaStream_t stream, MatrixProducts& products,
                                            const ScoreMemory& memory, const AttentionForward& op);
[[nodiscard]] cudaError_t enqueue_attention(cudaStream_t stream, MatrixProducts& products,
                                            const ScoreMemory& memory, const AttentionBackward& op);

}  // namespace tandem::cuda
