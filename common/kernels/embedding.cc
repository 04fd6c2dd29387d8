// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/embedding.h"

#include <algorithm>

#include "common/kernels/host/vector_math.h"

namespace tandem::host {

namespace {

// The offset of the table row that token r of the batch names.
std::int64_t table_row(const EmbeddingShape& shape, Span<const float> ids, std::int64_t r) {
  return class_index(ids.data()[r], shape.vocabulary, "ids", r) * shape.width;
}

}  // namespace

void run(const EmbeddingForward& op) {
  const auto& [rows, positions, vocabulary, width] = op.shape;
  for (std::int64_t r = 0; r < rows; ++r) {
    add(width, op.tokens.data() + table_row(op.shape, op.ids, r),
        op.places.data() + r % positions * width, op.y.data() + r * width);
  }
}

void run(const EmbeddingBackward& op) {
  const auto& [rows, positions, vocabulary, width] = op.shape;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* const dy = op.dy.data() + r * width;
    float* const dtoken = op.dtokens.data() + table_row(op.shape, op.ids, r);
    float* const dplace = op.dplaces.data() + r % positions * width;
    add(width, dtoken, dy, dtoken);
    if (r < positions) {
      std::copy_n(dy, width, dplace);
    } else {
      add(width, dplace, dy, dplace);
    }
  }
}

}  // namespace tandem::host
