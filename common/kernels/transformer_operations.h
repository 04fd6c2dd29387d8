// SPDX-License-Identifier: Apache-2.0
//
// The operations of a transformer beside linear layers. Where an operand's type is open, the type
// is that in which the linear layers compute (fp32 or bf16); the residual stream, statistics and
// gradients of parameters are fp32, as under torch.autocast.
#pragma once

#include <compare>
#include <cstdint>

#include "common/runtime/span.h"

namespace tandem {

struct EmbeddingShape {
  std::int64_t rows = 0;        // tokens of the batch: samples * positions
  std::int64_t positions = 0;   // tokens of a sample
  std::int64_t vocabulary = 0;  // rows of the token table
  std::int64_t width = 0;

  auto operator<=>(const EmbeddingShape&) const = default;
};

// y[r] = tokens[ids[r]] + places[r mod positions]. Ids are whole numbers in [0, vocabulary), held
// as fp32, which is exact below 2^24; any other id is an error on the host, and undefined on a GPU.
struct EmbeddingForward {
  EmbeddingShape shape;
  Span<const float> ids;     // (rows)
  Span<const float> tokens;  // (vocabulary, width)
  Span<const float> places;  // (positions, width), the first rows of a longer table
  Span<float> y;             // (rows, width)
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
};

struct NormShape {
  std::int64_t rows = 0;
  std::int64_t width = 0;

  auto operator<=>(const NormShape&) const = default;
};

// Residual connection and layer normalisation in one pass over the row:
// sum = x + branch; y = (sum - mean) * rstd * gain + bias, with mean and rstd = 1 / sqrt(variance +
// epsilon) of each row of sum, the variance taken over all elements of the row (divided by width).
struct LayerNormForward {
  NormShape shape;
  Span<const float> x;     // (rows, width)
  ConstAnySpan branch{};   // (rows, width), or empty: nothing is added, and sum is not written
  Span<const float> gain;  // (width)
  Span<const float> bias;  // (width)
  Span<float> sum{};       // (rows, width), may be x; empty where branch is empty
  AnySpan y{};             // (rows, width)
  Span<float> mean{};      // (rows)
  Span<float> rstd{};      // (rows)
  float epsilon = 1e-5F;
};

// dsum = the gradient of y through the normalisation + dabove, the gradient that reaches sum past
// this layer. dbranch is dsum in the branch's type.
struct LayerNormBackward {
  NormShape shape;
  ConstAnySpan dy;             // (rows, width)
  Span<const float> sum;       // (rows, width): x where there was no branch
  Span<const float> gain;      // (width)
  Span<const float> mean;      // (rows)
  Span<const float> rstd;      // (rows)
  Span<const float> dabove{};  // (rows, width), or empty: none
  Span<float> dsum{};          // (rows, width), may be dabove
  AnySpan dbranch{};           // (rows, width), or empty: not asked for; bf16, or fp32 elsewhere
  Span<float> dgain{};         // (width)
  Span<float> dbias{};         // (width)
};

struct AttentionShape {
  std::int64_t batch = 0;
  std::int64_t positions = 0;
  std::int64_t heads = 0;
  std::int64_t head_width = 0;

  auto operator<=>(const AttentionShape&) const = default;

  [[nodiscard]] constexpr std::int64_t width() const { return heads * head_width; }
  [[nodiscard]] constexpr std::int64_t rows() const { return batch * positions; }
};

// Floating-point operations of the two products of forward (scores; scores times values), counted
// over all pairs of positions, as the field does, though half are masked. Backward has four
// products.
[[nodiscard]] constexpr std::int64_t attention_flops(const AttentionShape& shape) {
  return 2 * (2 * shape.batch * shape.positions * shape.positions * shape.width());
}

// Causal self-attention: y = softmax(q k^T / sqrt(head_width)) v per sample and head, where each
// position sees this position and all earlier ones. A row of qkv holds q, k and v of a token, each
// (heads, head_width). `log_sums` keeps log(sum(exp(scores))) of each row for backward, which
// recomputes the probabilities.
struct AttentionForward {
  AttentionShape shape;
  ConstAnySpan qkv;      // (batch, positions, 3, heads, head_width)
  AnySpan y;             // (batch, positions, heads, head_width)
  Span<float> log_sums;  // (batch, heads, positions)
};

struct AttentionBackward {
  AttentionShape shape;
  ConstAnySpan qkv;            // as forward's
  ConstAnySpan y;              // forward's result
  ConstAnySpan dy;             // as y
  Span<const float> log_sums;  // forward's
  AnySpan dqkv;                // as qkv
};

}  // namespace tandem
