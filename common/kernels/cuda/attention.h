// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "common/base/units.h"
#include "common/kernels/cuda/matrix_products.h"
#include "common/kernels/cuda/product_plan.h"
#include "common/kernels/operations.h"

namespace tandem::cuda {

// Attention's products in cuBLASLt's terms (product_plan.h), over the packed operands as they lie:
// a token's heads follow each other, so that one batch is heads of one sample. For each head, with
// q, k, v, y (positions, head_width) and the scores (positions, positions):
//   kScores       s = q k^T, and dp = dy v^T
//   kMix          y = p v, and dq = ds k
//   kMixBackward  dv = p^T dy, and dk = ds^T q
// All pairs of positions are multiplied, also the half that is masked. Pure functions.

// Heads of one sample that are computed together, and how their scores lie in scratch memory.
struct ScoreTiles {
  std::int64_t heads = 0;   // of a batch; the last one may have fewer
  std::int64_t stride = 0;  // elements between rows of scores: whole 16 bytes in any type
  std::int64_t count = 0;   // elements of all the scores of a batch

  // In fp32: the scores, which become probabilities where those are fp32, and their gradients.
  [[nodiscard]] constexpr Bytes wide() const { return Bytes{2 * 4 * count}; }
  // In bf16: probabilities and the gradients of scores, once more.
  [[nodiscard]] constexpr Bytes narrow() const { return Bytes{2 * 2 * count}; }

  auto operator<=>(const ScoreTiles&) const = default;
};

// As many heads as fit in 256 MiB, in batches of about the same size, and one at least.
[[nodiscard]] ScoreTiles tiles_of(const AttentionShape& shape, DType type);

[[nodiscard]] Bytes scratch_size(const ScoreTiles& tiles, DType type);

// `left`: elements between rows of what is multiplied from the left, q or dy.
[[nodiscard]] ProductPlan scores_plan(const AttentionShape& shape, DType type,
                                      const ScoreTiles& tiles, std::int64_t heads,
                                      std::int64_t left);
// `result`: elements between rows of the result, y or dq.
[[nodiscard]] ProductPlan mix_plan(const AttentionShape& shape, DType type, const ScoreTiles& tiles,
                                   std::int64_t heads, std::int64_t result);
// `right`: elements between rows of what is multiplied from the right, dy or q.
[[nodiscard]] ProductPlan mix_backward_plan(const AttentionShape& shape, DType type,
                                            const ScoreTiles& tiles, std::int64_t heads,
                                            std::int64_t right);

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
