// SPDX-License-Identifier: Apache-2.0
//
// An operation's computing and traffic, by its operands.
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/base/units.h"
#include "common/kernels/operations.h"

namespace tandem {

// The work of an operation: FLOPs of matrix products, and the bytes of its operands.
struct OperationWork {
  double flops = 0;
  Bytes moved{};
};

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

// Whether the operation changes all that it writes in place, as updates do: then it reads that too.
template <class Op>
inline constexpr bool kChangesInPlace =
    std::is_same_v<Op, SgdUpdate> || std::is_same_v<Op, AdamUpdate>;

// The bytes that an operation moves, by the accesses that it declares: each operand once, and twice
// where the operand is changed in place. Throws a logic error where operands do not fit, as every
// back end does.
template <class Op>
[[nodiscard]] Bytes bytes_moved_by(const Op& op) {
  Bytes moved{0};
  for (const Access& access : op.accesses()) {
    const bool is_changed = kChangesInPlace<Op> && access.mode == Access::Mode::kWrite;
    moved += access.size * (is_changed ? 2 : 1);
  }
  return moved;
}

}  // namespace tandem
