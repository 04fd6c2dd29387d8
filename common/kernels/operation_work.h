// SPDX-License-Identifier: Apache-2.0
//
// What an operation computes and moves, by its operands.
#pragma once

#include <cstdint>
#include <type_traits>

#include "common/base/units.h"
#include "common/kernels/operations.h"

namespace tandem {

enum class OperationKind { kProduct, kConvolution, kAttention, kNormalisation, kOther };

// Matrix products of an operation, (rows, depth) times (depth, columns), all alike.
struct ProductShape {
  std::int64_t rows = 0;  // 0: not told
  std::int64_t columns = 0;
  std::int64_t depth = 0;
  std::int64_t count = 1;
};

// The work of an operation: FLOPs of matrix products, and the bytes of its operands.
struct OperationWork {
  double flops = 0;
  Bytes moved{};
  OperationKind kind = OperationKind::kOther;
  ProductShape product{};
  Bytes relaid{};  // operands whose layout tensor cores do not take, which are copied into another
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

// The kind of the operation, by which its cost is described.
template <class Op>
[[nodiscard]] constexpr OperationKind kind_of() {
  if constexpr (requires(Op op) { product_flops(op.shape); }) return OperationKind::kProduct;
  if constexpr (requires(Op op) { convolution_flops(op.shape); }) {
    return OperationKind::kConvolution;
  }
  if constexpr (requires(Op op) { attention_flops(op.shape); }) return OperationKind::kAttention;
  constexpr bool kIsNorm =
      std::is_same_v<Op, BatchNormForward> || std::is_same_v<Op, BatchNormBackward> ||
      std::is_same_v<Op, LayerNormForward> || std::is_same_v<Op, LayerNormBackward>;
  return kIsNorm ? OperationKind::kNormalisation : OperationKind::kOther;
}

// The matrix product that the operation is; of a convolution that of its windows. Attention's tiles
// are the library's own, so that its shape is not told.
template <class Op>
[[nodiscard]] constexpr ProductShape product_of(const Op& op) {
  constexpr bool kIsForInput =
      std::is_same_v<Op, LinearBackwardInput> || std::is_same_v<Op, ConvolutionBackwardInput>;
  constexpr bool kIsForWeight =
      std::is_same_v<Op, LinearBackwardWeight> || std::is_same_v<Op, ConvolutionBackwardWeight>;
  const auto turned = [](std::int64_t rows, std::int64_t in, std::int64_t out) -> ProductShape {
    if (kIsForInput) return {.rows = rows, .columns = in, .depth = out};
    if (kIsForWeight) return {.rows = out, .columns = in, .depth = rows};
    return {.rows = rows, .columns = out, .depth = in};
  };
  if constexpr (kind_of<Op>() == OperationKind::kProduct) {
    return turned(op.shape.batch, op.shape.in, op.shape.out);
  } else if constexpr (kind_of<Op>() == OperationKind::kConvolution) {
    const auto& shape = op.shape;
    const std::int64_t window = shape.kernel * shape.kernel;
    const std::int64_t places = shape.batch * shape.out_height() * shape.out_width();
    if (!kIsForInput) return turned(places, shape.in * window, shape.out);
    // Each input takes a term of every output channel for each window that it is in.
    const std::int64_t inputs = shape.batch * shape.height * shape.width;
    const std::int64_t terms = shape.out * window / (shape.stride * shape.stride);
    return {.rows = inputs, .columns = shape.in, .depth = terms > 0 ? terms : 1};
  } else {
    return {};
  }
}

}  // namespace tandem
