// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/kernels/operands.h"

namespace tandem {

// kGelu is the tanh form of GPT-2: 0.5 y (1 + tanh(sqrt(2 / pi) (y + 0.044715 y^3))).
enum class Activation { kNone, kRelu, kGelu };

// dy = 0 where y <= 0, in place; y is the result of the ReLU.
struct ReluBackward {
  ConstAnySpan y;
  AnySpan dy;

  [[nodiscard]] std::vector<Access> accesses() const {
    return checked({{"y", y, y.size()}, {"dy", dy, y.size()}}, y.dtype());
  }
};

namespace host {

void run(const ReluBackward& op);

// y = GELU of `before`, of the same type and size.
void gelu(ConstAnySpan before, AnySpan y);

// dy *= the slope of GELU at `before`, of the same type and size.
void gelu_backward(ConstAnySpan before, AnySpan dy);

}  // namespace host

}  // namespace tandem
