// SPDX-License-Identifier: Apache-2.0
//
// The operands of image operations on both sides.
#pragma once

#include "tests/kernels/cuda_parity.h"

namespace tandem::test {

template <class T>
struct ConvolutionTwins {
  ConvolutionShape shape;
  Twin<T> x;
  Twin<T> weight;
  Twin<T> y;
  Twin<T> dy;
  Twin<T> dx;
  Twin<float> dweight;

  ConvolutionForward forward(Side s) {
    return {.shape = shape, .x = x.on(s), .weight = weight.on(s), .y = y.on(s)};
  }
  ConvolutionBackwardInput backward_input(Side s) {
    return {.shape = shape, .dy = dy.on(s), .weight = weight.on(s), .dx = dx.on(s)};
  }
  ConvolutionBackwardWeight backward_weight(Side s) {
    return {.shape = shape, .x = x.on(s), .dy = dy.on(s), .dweight = dweight.on(s)};
  }
};

// What batch normalisation is given and asked for beside x.
struct BatchNormCase {
  bool residual = false;  // backward: its gradient
  bool relu = false;
  bool above = false;
};

template <class T>
struct BatchNormTwins {
  BatchNormShape shape;
  Twin<T> x;
  Twin<T> residual;
  Twin<T> y;
  Twin<float> gain;
  Twin<float> bias;
  Twin<float> running_mean;
  Twin<float> running_variance;
  Twin<float> mean;
  Twin<float> rstd;
  Twin<T> dy;
  Twin<T> dabove;
  Twin<T> dresidual;
  Twin<float> dgain;
  Twin<float> dbias;

  BatchNormForward forward(Side s, const BatchNormCase& with) {
    return {.shape = shape,
            .x = x.on(s),
            .residual = with.residual ? ConstAnySpan(residual.on(s)) : ConstAnySpan(),
            .gain = gain.on(s),
            .bias = bias.on(s),
            .y = y.on(s),
            .running_mean = running_mean.on(s),
            .running_variance = running_variance.on(s),
            .mean = mean.on(s),
            .rstd = rstd.on(s),
            .activation = with.relu ? Activation::kRelu : Activation::kNone};
  }
  // dx takes dy's place, as in the models.
  BatchNormBackward backward(Side s, const BatchNormCase& with) {
    return {.shape = shape,
            .x = x.on(s),
            .y = with.relu ? ConstAnySpan(y.on(s)) : ConstAnySpan(),
            .dy = dy.on(s),
            .dabove = with.above ? ConstAnySpan(dabove.on(s)) : ConstAnySpan(),
            .gain = gain.on(s),
            .mean = mean.on(s),
            .rstd = rstd.on(s),
            .dx = dy.on(s),
            .dresidual = with.residual ? AnySpan(dresidual.on(s)) : AnySpan(),
            .dgain = dgain.on(s),
            .dbias = dbias.on(s)};
  }
};

template <class T>
struct MaxPoolTwins {
  MaxPoolShape shape;
  Twin<T> x;
  Twin<T> y;
  Twin<T> dy;
  Twin<T> dabove;
  Twin<T> dx;

  MaxPoolForward forward(Side s) { return {.shape = shape, .x = x.on(s), .y = y.on(s)}; }
  MaxPoolBackward backward(Side s, bool above) {
    return {.shape = shape,
            .x = x.on(s),
            .y = y.on(s),
            .dy = dy.on(s),
            .dabove = above ? ConstAnySpan(dabove.on(s)) : ConstAnySpan(),
            .dx = dx.on(s)};
  }
};

}  // namespace tandem::test
