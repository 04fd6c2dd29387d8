// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "common/kernels/operands.h"

namespace tandem {

struct EmbeddingShape {
  std::int64_t rows = 0;        // tokens of the batch: samples * positions
  std::int64_t positions = 0;   // tokens of a sample
  std::int64_t vocabulary = 0;  // rows of the token table
  std::int64_t width = 0;

  auto operator<=>(const EmbeddingShape&) const = default;
};

// Throws a logic error where a size is not positive, or fp32 cannot represent every id.
void check(const EmbeddingShape& shape);

// y[r] = tokens[ids[r]] + places[r mod positions]. Ids are whole numbers in [0, vocabulary), held
// as fp32, which is exact below 2^24; any other id is an error on the host, and undefined on a GPU.
struct EmbeddingForward {
  EmbeddingShape shape;
  Span<const float> ids;     // (rows)
  Span<const float> tokens;  // (vocabulary, width)
  Span<const float> places;  // (positions, width), the first rows of a longer table
  Span<float> y;             // (rows, width)

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    const auto& [rows, positions, vocabulary, width] = shape;
    return checked({{"ids", ids, rows},
                    {"tokens", tokens, vocabulary * width},
                    {"places", places, positions * width},
                    {"y", y, rows * width}});
  }
};

// dtokens[ids[r]] += dy[r]: accumulates, for the table may be the output layer's weight too.
// dplaces = sums of dy over samples. The sums of one table row are taken in order of r, so that the
// sums are the same every time.
struct EmbeddingBackward {
  EmbeddingShape shape;
  Span<const float> ids;  // (rows)
  Span<const float> dy;   // (rows, width)
  Span<float> dtokens;    // (vocabulary, width)
  Span<float> dplaces;    // (positions, width)

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    const auto& [rows, positions, vocabulary, width] = shape;
    return checked({{"ids", ids, rows},
                    {"dy", dy, rows * width},
                    {"dtokens", dtokens, vocabulary * width},
                    {"dplaces", dplaces, positions * width}});
  }
};

namespace host {

void run(const EmbeddingForward& op);
void run(const EmbeddingBackward& op);

}  // namespace host

}  // namespace tandem
