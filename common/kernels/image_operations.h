// SPDX-License-Identifier: Apache-2.0
//
// The operations of a convolutional network beside linear layers. Activations are channels-last,
// (batch, height, width, channels), as written here; but of a GPU's that were not made so
// (ImageOptions) all images, rows of normalisations and weights lie channels first: (batch,
// channels, height, width), (out, in, kernel, kernel). Where an operand's type is open, the type is
// that in which the convolutions compute (fp32 or bf16); statistics, and parameters of
// normalisations, are fp32, as under torch.autocast.
#pragma once

#include "common/kernels/basic_operations.h"
#include "common/kernels/image_shapes.h"
#include "common/runtime/span.h"

namespace tandem {

// y[b][p][q][o] = sum over r, s, i of x[b][p stride + r - padding][q stride + s - padding][i] *
// weight[o][r][s][i], x being 0 outside; no bias.
struct ConvolutionForward {
  ConvolutionShape shape;
  ConstAnySpan x;       // (batch, height, width, in)
  ConstAnySpan weight;  // (out, kernel, kernel, in)
  AnySpan y;            // (batch, out height, out width, out)
};

struct ConvolutionBackwardInput {
  ConvolutionShape shape;
  ConstAnySpan dy;      // as forward's y
  ConstAnySpan weight;  // as forward's
  AnySpan dx;           // as forward's x
};

// Overwrites dweight, never accumulates. dweight is fp32 whatever x and dy are.
struct ConvolutionBackwardWeight {
  ConvolutionShape shape;
  ConstAnySpan x;       // as forward's
  ConstAnySpan dy;      // as forward's y
  Span<float> dweight;  // as forward's weight
};

// Batch normalisation as in training, with the residual connection and ReLU behind it:
// y = activation((x - mean) * rstd * gain + bias + residual), with each channel's mean and rstd =
// 1 / sqrt(variance + epsilon) over all rows, the variance divided by the number of rows. As torch:
// running_x = (1 - momentum) running_x + momentum * x, with the variance divided by rows - 1.
struct BatchNormForward {
  BatchNormShape shape;
  ConstAnySpan x;                             // (rows, channels)
  ConstAnySpan residual{};                    // (rows, channels), or empty: none
  Span<const float> gain;                     // (channels)
  Span<const float> bias;                     // (channels)
  AnySpan y{};                                // (rows, channels); may be x or the residual
  Span<float> running_mean{};                 // (channels)
  Span<float> running_variance{};             // (channels)
  Span<float> mean{};                         // (channels)
  Span<float> rstd{};                         // (channels)
  Activation activation = Activation::kNone;  // or kRelu
  float epsilon = 1e-5F;
  float momentum = 0.1F;
};

// The gradients that reach y from two sides are added in y's type, and cut off where ReLU was off:
// g = dy + dabove where y > 0, else 0 (without ReLU: everywhere). g is the residual's gradient;
// dbias = sum of g, dgain = sum of g n, with n = (x - mean) rstd,
// dx = gain rstd (g - dbias / rows - n dgain / rows).
// The running statistics have no gradient.
struct BatchNormBackward {
  BatchNormShape shape;
  ConstAnySpan x;         // forward's (rows, channels)
  ConstAnySpan y{};       // forward's result with ReLU; else empty
  ConstAnySpan dy{};      // (rows, channels)
  ConstAnySpan dabove{};  // (rows, channels), or empty: nothing is added
  Span<const float> gain{};
  Span<const float> mean{};
  Span<const float> rstd{};
  AnySpan dx{};         // (rows, channels); may be dy or dabove, not dresidual
  AnySpan dresidual{};  // (rows, channels), or empty: not asked for; may be dy or dabove
  Span<float> dgain{};
  Span<float> dbias{};
};

// The largest number of each window; padding is never the largest, NaN is.
struct MaxPoolForward {
  MaxPoolShape shape;
  ConstAnySpan x;  // (batch, height, width, channels)
  AnySpan y;       // (batch, out height, out width, channels)
};

// The gradient of a window, dy + dabove, goes to the window's first element in order of rows and
// columns that equals y; gradients of several windows for one element are added. The gradient of a
// window whose y is NaN is dropped.
struct MaxPoolBackward {
  MaxPoolShape shape;
  ConstAnySpan x;         // forward's
  ConstAnySpan y;         // forward's result
  ConstAnySpan dy;        // as y
  ConstAnySpan dabove{};  // as y, or empty: nothing is added
  AnySpan dx{};           // as x
};

// y = the mean of x over all positions.
struct AveragePoolForward {
  AveragePoolShape shape;
  ConstAnySpan x;  // (batch, positions, channels)
  AnySpan y;       // (batch, channels)
};

// dx = dy / positions, at each position.
struct AveragePoolBackward {
  AveragePoolShape shape;
  ConstAnySpan dy;  // (batch, channels)
  AnySpan dx;       // (batch, positions, channels)
};

}  // namespace tandem
