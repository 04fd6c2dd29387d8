// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "common/kernels/activation.h"
#include "common/kernels/operands.h"

namespace tandem {

// The sizes of a linear layer: rows of the batch, columns in, columns out.
struct LinearShape {
  std::int64_t batch = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;

  auto operator<=>(const LinearShape&) const = default;
};

// Throws a logic error where a size is not positive.
void check(const LinearShape& shape);

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

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    const auto& [batch, in, out] = shape;
    return checked({{"x", x, batch * in},
                    {"weight", weight, out * in},
                    {"bias", bias, unless_empty(bias, out)},
                    {"y", y, batch * out},
                    {"before", before, activation == Activation::kGelu ? batch * out : 0}},
                   x.dtype());
  }
};

// dx = dy . weight, times the slope of GELU where the layer's input is the GELU of `before`.
struct LinearBackwardInput {
  LinearShape shape;
  ConstAnySpan dy;        // (batch, out)
  ConstAnySpan weight;    // (out, in)
  AnySpan dx;             // (batch, in)
  ConstAnySpan before{};  // (batch, in), or empty: dx is the gradient of the layer's input itself

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    const auto& [batch, in, out] = shape;
    return checked({{"dy", dy, batch * out},
                    {"weight", weight, out * in},
                    {"dx", dx, batch * in},
                    {"before", before, unless_empty(before, batch * in)}},
                   dy.dtype());
  }
};

// dweight = dy^T . x, dbias = column sums of dy. Overwrites both, never accumulates. Gradients of
// parameters are fp32 whatever x and dy are, since fp32 sums make these gradients. Without dbias,
// rows of dy may have padding behind them, which is not read.
struct LinearBackwardWeight {
  LinearShape shape;
  ConstAnySpan x;       // (batch, in)
  ConstAnySpan dy;      // (batch, out)
  Span<float> dweight;  // (out, in)
  Span<float> dbias{};  // (out), or empty where there is no bias
  std::int64_t padding = 0;

  [[nodiscard]] std::vector<Access> accesses() const {
    check(shape);
    TANDEM_CHECK(padding == 0 || (padding > 0 && dbias.empty()),
                 "{} columns of padding, beside dbias of {}", padding, dbias.size());
    const auto& [batch, in, out] = shape;
    return checked({{"x", x, batch * in},
                    {"dy", dy, batch * (out + padding)},
                    {"dweight", dweight, out * in},
                    {"dbias", dbias, unless_empty(dbias, out)}},
                   x.dtype());
  }
};

}  // namespace tandem
