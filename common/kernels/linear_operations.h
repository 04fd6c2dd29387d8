// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "common/runtime/span.h"

namespace tandem {

// kGelu is the tanh form of GPT-2: 0.5 y (1 + tanh(sqrt(2 / pi) (y + 0.044715 y^3))).
enum class Activation { kNone, kRelu, kGelu };

// The sizes of a linear layer: rows of the batch, columns in, columns out.
struct LinearShape {
  std::int64_t batch = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;

  auto operator<=>(const LinearShape&) const = default;
};

// Floating-point operations of one matrix product of this shape, a multiply-add counted as two: the
// forward pass is one product, the backward pass two. Bias and activation are not counted.
[[nodiscard]] constexpr std::int64_t product_flops(const LinearShape& shape) {
  return 2 * shape.batch * shape.in * shape.out;
}

// y = activation(x . weight^T + bias)
struct LinearForward {
  LinearShape shape;
  ConstAnySpan x;       // (batch, in)
  ConstAnySpan weight;  // (out, in)
  ConstAnySpan bias{};  // (out), or empty: none
  AnySpan y{};          // (batch, out)
  Activation activation = Activation::kNone;
  AnySpan before{};  // (batch, out): the activation's input, kept for GELU's gradient; or empty
};

// dx = dy . weight
struct LinearBackwardInput {
  LinearShape shape;
  ConstAnySpan dy;      // (batch, out)
  ConstAnySpan weight;  // (out, in)
  AnySpan dx;           // (batch, in)
};

// dweight = dy^T . x, dbias = column sums of dy. Overwrites both, never accumulates. Gradients of
// parameters are fp32 whatever x and dy are, since fp32 sums make these gradients.
struct LinearBackwardWeight {
  LinearShape shape;
  ConstAnySpan x;       // (batch, in)
  ConstAnySpan dy;      // (batch, out)
  Span<float> dweight;  // (out, in)
  Span<float> dbias{};  // (out), or empty where there is no bias
};

// dy = 0 where y <= 0, in place; y is the result of the ReLU.
struct ReluBackward {
  ConstAnySpan y;
  AnySpan dy;
};

// dy *= the slope of GELU, in place; `before` is the input of the GELU.
struct GeluBackward {
  ConstAnySpan before;
  AnySpan dy;
};

}  // namespace tandem
