// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "common/runtime/any_span.h"

namespace tandem {

// kGelu is the tanh form: 0.5 y (1 + tanh(sqrt(2 / pi) (y + 0.044715 y^3))), GPT-2's.
enum class Activation { kNone, kRelu, kGelu };

// Rows of the batch, columns in, columns out.
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
  AnySpan before{};  // (batch, out): what the activation is given, which GELU's gradient needs;
                     // else empty
};

// dx = dy . weight
struct LinearBackwardInput {
  LinearShape shape;
  ConstAnySpan dy;      // (batch, out)
  ConstAnySpan weight;  // (out, in)
  AnySpan dx;           // (batch, in)
};

// dweight = dy^T . x, dbias = column sums of dy. Overwrites, never accumulates. Gradients of
// parameters are fp32 whatever x and dy are: they come from the fp32 sums as those are.
struct LinearBackwardWeight {
  LinearShape shape;
  ConstAnySpan x;       // (batch, in)
  ConstAnySpan dy;      // (batch, out)
  Span<float> dweight;  // (out, in)
  Span<float> dbias{};  // (out), or empty where there is no bias
};

// dy = 0 where y <= 0, in place; y is what the ReLU returned.
struct ReluBackward {
  ConstAnySpan y;
  AnySpan dy;
};

// dy *= the slope of GELU, in place; `before` is what the GELU was given.
struct GeluBackward {
  ConstAnySpan before;
  AnySpan dy;
};

}  // namespace tandem
