// SPDX-License-Identifier: Apache-2.0
//
// The operands of an embedding, a layer normalisation and an attention, on both sides, and the
// operations on them.
#pragma once

#include "tests/kernels/cuda_parity.h"

namespace tandem::test {

struct EmbeddingTwins {
  EmbeddingShape shape;
  Twin<float> ids;
  Twin<float> tokens;
  Twin<float> places;
  Twin<float> rows;  // y, and dy

  [[nodiscard]] EmbeddingForward forward(Side s) {
    return {.shape = shape,
            .ids = ids.on(s),
            .tokens = tokens.on(s),
            .places = places.on(s),
            .y = rows.on(s)};
  }
  // The tables take their gradients.
  [[nodiscard]] EmbeddingBackward backward(Side s) {
    return {.shape = shape,
            .ids = ids.on(s),
            .dy = rows.on(s),
            .dtokens = tokens.on(s),
            .dplaces = places.on(s)};
  }
};

template <class T>
struct NormTwins {
  NormShape shape;
  Twin<float> x;
  Twin<T> branch;
  Twin<float> gain;
  Twin<float> bias;
  Twin<float> sum;
  Twin<T> y;
  Twin<float> mean;
  Twin<float> rstd;
  Twin<T> dy;
  Twin<float> dsum;

  [[nodiscard]] LayerNormForward forward(Side s, bool with_branch) {
    return {.shape = shape,
            .x = x.on(s),
            .branch = with_branch ? ConstAnySpan(branch.on(s)) : ConstAnySpan{},
            .gain = gain.on(s),
            .bias = bias.on(s),
            .sum = with_branch ? sum.on(s) : Span<float>{},
            .y = y.on(s),
            .mean = mean.on(s),
            .rstd = rstd.on(s)};
  }
  // Gradients of the parameters replace them; that of the sum is added to what is there, if asked.
  [[nodiscard]] LayerNormBackward backward(Side s, Twin<float>& dgain, Twin<float>& dbias,
                                           bool with_branch) {
    return {.shape = shape,
            .dy = dy.on(s),
            .sum = with_branch ? sum.on(s) : x.on(s),
            .gain = gain.on(s),
            .mean = mean.on(s),
            .rstd = rstd.on(s),
            .dabove = with_branch ? dsum.on(s) : Span<float>{},
            .dsum = dsum.on(s),
            .dbranch = with_branch ? AnySpan(branch.on(s)) : AnySpan{},
            .dgain = dgain.on(s),
            .dbias = dbias.on(s)};
  }
};

template <class T>
struct AttentionTwins {
  AttentionShape shape;
  Twin<T> qkv;
  Twin<T> y;
  Twin<float> log_sums;
  Twin<T> dy;
  Twin<T> dqkv;

  [[nodiscard]] AttentionForward forward(Side s) {
    return {.shape = shape, .qkv = qkv.on(s), .y = y.on(s), .log_sums = log_sums.on(s)};
  }
  [[nodiscard]] AttentionBackward backward(Side s) {
    return {.shape = shape,
            .qkv = qkv.on(s),
            .y = y.on(s),
            .dy = dy.on(s),
            .log_sums = log_sums.on(s),
            .dqkv = dqkv.on(s)};
  }
};

}  // namespace tandem::test
