// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "common/base/units.h"
#include "common/kernels/cuda/matrix_products.h"
#include "common/kernels/operations.h"

namespace tandem::cuda {

// Attention's products in cuBLASLt's terms (matrix_products.h), over the packed operands as they
// lie. For each head of each sample, with q, k, v, y (positions, head_width) and the scores
// (positions, positions):
//   kScores       s = q k^T, and dp = dy v^T
//   kMix          y = p v, and dq = ds k
//   kMixBackward  dv = p^T dy, and dk = ds^T q
// No one stride leads through the heads of all samples, so that a batch has the heads of one sample
// or the samples of one head, whichever are more. Scores that are not seen are skipped by bands of
// rows. Pure functions.

// Matrices of scores that are computed together, and how they lie in scratch memory.
struct ScoreTiles {
  bool of_samples = false;   // a batch has samples of one head, else heads of one sample
  std::int64_t batch = 0;    // matrices of a product; the last one may have fewer
  std::int64_t batches = 1;  // of which the scores are in memory at a time, likewise
  std::int64_t stride = 0;   // elements between rows of scores: whole 16 bytes in any type
  std::int64_t band = 0;     // rows of a product, of which the last one's scores are all seen
  std::int64_t count = 0;    // elements of all the scores in memory

  auto operator<=>(const ScoreTiles&) const = default;
};

// As many matrices, whole squares in memory, as fit in 256 MiB, in batches of about the same size,
// and one at least.
[[nodiscard]] ScoreTiles tiles_of(const AttentionShape& shape, DType type);

// Scores, which become probabilities, and their gradients, both in fp32; for bf16 once more in
// that.
[[nodiscard]] constexpr Bytes scratch_size(const ScoreTiles& tiles, DType type) {
  return Bytes{2 * tiles.count * (type == DType::kFloat32 ? 4 : 4 + 2)};
}

// A part of each matrix of scores: its rows are those of q, y, dq, dy, its columns k's, v's, dk's
// and dv's rows, which lie so many elements apart.
struct ScorePart {
  std::int64_t row = 0;  // the first
  std::int64_t rows = 0;
  std::int64_t rows_apart = 0;
  std::int64_t column = 0;
  std::int64_t columns = 0;
  std::int64_t columns_apart = 0;
};

// The plan of one of these products for all heads of a batch of tiles.
[[nodiscard]] ProductPlan attention_plan(Product product, const AttentionShape& shape, DType type,
                                         const ScoreTiles& tiles, const ScorePart& part);

// The place and the means of attention: on a stream of the products' GPU, which is current, with
// scratch memory of scratch_size() of these tiles and the operands' type.
struct AttentionMeans {
  cudaStream_t stream;
  MatrixProducts& products;
  ScoreTiles tiles;
  ByteSpan scratch;
};

// Queues attention: batches one after the other, own softmax between the products. Returns the
// first error of a launch; throws as the products do.
template <class Op>
[[nodiscard]] cudaError_t enqueue_attention(const AttentionMeans& by, const Op& op);

}  // namespace tandem::cuda
