// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "common/kernels/operands.h"

namespace tandem {

struct AttentionShape {
  std::int64_t batch = 0;
  std::int64_t positions = 0;
  std::int64_t heads = 0;
  std::int64_t head_width = 0;

  auto operator<=>(const AttentionShape&) const = default;

  [[nodiscard]] constexpr std::int64_t width() const { return heads * head_width; }
  [[nodiscard]] constexpr std::int64_t rows() const { return batch * positions; }
};

// Throws a logic error where a size is not positive.
void check(const AttentionShape& shape);

// Floating-point operations of the two products of forward (scores; scores times values), counted
// over all pairs of positions, as the field does, though half are masked. Backward has four
// products.
[[nodiscard]] constexpr std::int64_t attention_flops(const AttentionShape& shape) {
  return 2 * (2 * shape.batch * shape.positions * shape.positions * shape.width());
}

// Causal self-attention: y = softmax(q k^T / sqrt(head_width)) v per sample and head, where each
// position sees this position and all earlier ones. A row of qkv holds q, k and v of a token, each
// (heads, head_width). `log_sums` keeps log(sum(exp(scores))) of each row for backward, which
// recomputes the probabilities.
struct AttentionForward {
  AttentionShape shape;
  ConstAnySpan qkv;      // (batch, positions, 3, heads, head_width)
  AnySpan y;             // (batch, positions, heads, head_width)
  Span<float> log_sums;  // (batch, heads, positions)

  [[nodiscard]] std::vector<Access> accesses() const {
    const AttentionShape& s = shape;
    check(s);
    return checked({{"qkv", qkv, s.rows() * 3 * s.width()},
                    {"y", y, s.rows() * s.width()},
                    {"log_sums", log_sums, s.rows() * s.heads}},
                   qkv.dtype());
  }
};

struct AttentionBackward {
  AttentionShape shape;
  ConstAnySpan qkv;            // as forward's
  ConstAnySpan y;              // forward's result
  ConstAnySpan dy;             // as y
  Span<const float> log_sums;  // forward's
  AnySpan dqkv;                // as qkv

  [[nodiscard]] std::vector<Access> accesses() const {
    const AttentionShape& s = shape;
    check(s);
    return checked({{"qkv", qkv, s.rows() * 3 * s.width()},
                    {"y", y, s.rows() * s.width()},
                    {"dy", dy, s.rows() * s.width()},
                    {"log_sums", log_sums, s.rows() * s.heads},
                    {"dqkv", dqkv, s.rows() * 3 * s.width()}},
                   qkv.dtype());
  }
};

namespace host {

[[nodiscard]] Bytes scratch_size(const AttentionForward& op);
void run(const AttentionForward& op, std::byte* scratch);
[[nodiscard]] Bytes scratch_size(const AttentionBackward& op);
void run(const AttentionBackward& op, std::byte* scratch);

}  // namespace host

}  // namespace tandem
