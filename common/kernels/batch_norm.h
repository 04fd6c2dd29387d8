// SPDX-License-Identifier: Apache-2.0
//
// Images lie as in convolution.h.
#pragma once

#include "common/kernels/activation.h"
#include "common/kernels/image_shapes.h"
#include "common/kernels/operands.h"

namespace tandem {

// Throws a logic error where there is no variance, or rows are no whole images.
void check(const BatchNormShape& shape);

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

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    TANDEM_CHECK(activation != Activation::kGelu, "batch normalisation of {} rows with GELU",
                 shape.rows);
    const auto& [rows, channels, positions] = shape;
    return checked({{"x", x, rows * channels},
                    {"residual", residual, unless_empty(residual, rows * channels)},
                    {"gain", gain, channels},
                    {"bias", bias, channels},
                    {"y", y, rows * channels},
                    {"running_mean", running_mean, channels},
                    {"running_variance", running_variance, channels},
                    {"mean", mean, channels},
                    {"rstd", rstd, channels}},
                   x.dtype());
  }
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

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    TANDEM_CHECK(dresidual.empty() || dx.data() != dresidual.data(),
                 "dx and dresidual, of {} elements, are one", dx.size());
    const auto& [rows, channels, positions] = shape;
    return checked({{"x", x, rows * channels},
                    {"y", y, unless_empty(y, rows * channels)},
                    {"dy", dy, rows * channels},
                    {"dabove", dabove, unless_empty(dabove, rows * channels)},
                    {"gain", gain, channels},
                    {"mean", mean, channels},
                    {"rstd", rstd, channels},
                    {"dx", dx, rows * channels},
                    {"dresidual", dresidual, unless_empty(dresidual, rows * channels)},
                    {"dgain", dgain, channels},
                    {"dbias", dbias, channels}},
                   x.dtype());
  }
};

namespace host {

[[nodiscard]] Bytes scratch_size(const BatchNormForward& op);
void run(const BatchNormForward& op, std::byte* scratch);
[[nodiscard]] Bytes scratch_size(const BatchNormBackward& op);
void run(const BatchNormBackward& op, std::byte* scratch);

}  // namespace host

}  // namespace tandem
