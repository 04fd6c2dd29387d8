// SPDX-License-Identifier: Apache-2.0
//
// If an operand's type is open, the type is that in which the linear layers compute (fp32 or
// bf16); the residual stream, statistics and gradients of parameters are fp32, as under
// torch.autocast.
#pragma once

#include <compare>
#include <cstdint>

#include "common/kernels/operands.h"

namespace tandem {

struct NormShape {
  std::int64_t rows = 0;
  std::int64_t width = 0;

  auto operator<=>(const NormShape&) const = default;
};

// Throws a logic error where a size is not positive.
void check(const NormShape& shape);

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

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    const auto& [rows, width] = shape;
    return checked({{"x", x, rows * width},
                    {"y", y, rows * width},
                    {"branch", branch, unless_empty(branch, rows * width)},
                    {"gain", gain, width},
                    {"bias", bias, width},
                    {"sum", sum, branch.size()},
                    {"mean", mean, rows},
                    {"rstd", rstd, rows}},
                   y.dtype());
  }
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

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    const auto& [rows, width] = shape;
    return checked({{"dy", dy, rows * width},
                    {"sum", sum, rows * width},
                    {"gain", gain, width},
                    {"mean", mean, rows},
                    {"rstd", rstd, rows},
                    {"dabove", dabove, unless_empty(dabove, rows * width)},
                    {"dsum", dsum, rows * width},
                    {"dbranch", dbranch, unless_empty(dbranch, rows * width)},
                    {"dgain", dgain, width},
                    {"dbias", dbias, width}},
                   dy.dtype());
  }
};

namespace host {

void run(const LayerNormForward& op);
[[nodiscard]] Bytes scratch_size(const LayerNormBackward& op);
void run(const LayerNormBackward& op, std::byte* scratch);

}  // namespace host

}  // namespace tandem
