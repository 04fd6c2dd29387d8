// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/kernels/operations.h"

namespace tandem::bench {

// The FLOPs of an operation: a multiply-add counts as two, and attention's scores count once
// forward and twice backward. Operations that are no product have 0.
template <class Op>
[[nodiscard]] constexpr std::int64_t flops_of(const Op& op) {
  if constexpr (requires { product_flops(op.shape); }) {
    return product_flops(op.shape);
  } else if constexpr (requires { convolution_flops(op.shape); }) {
    return convolution_flops(op.shape);
  } else if constexpr (requires { attention_flops(op.shape); }) {
    return (std::is_same_v<Op, AttentionBackward> ? 2 : 1) * attention_flops(op.shape);
  } else {
    return 0;
  }
}

}  // namespace tandem::bench
