// SPDX-License-Identifier: Apache-2.0
//
// Every operation in plain loops, run by the caller at once: the reference for the fast versions of
// all back ends. Sums are taken in double in index order and rounded to fp32; bf16 operands are
// widened first, and bf16 results are rounded from that fp32. Operands lie in memory the caller can
// read; the caller is responsible for sizes and types. A token or class out of range is a logic
// error.
#pragma once

#include <cstdint>
#include <vector>

#include "common/kernels/operations.h"
#include "common/runtime/span.h"

namespace tandem {

#define TANDEM_NAIVE(Op, name) void naive(const Op& op);
TANDEM_EACH_OPERATION(TANDEM_NAIVE)
#undef TANDEM_NAIVE

// Reads and writes an operand of any type element by element, through fp32, as naive() does.
[[nodiscard]] float element(ConstAnySpan values, std::int64_t i);
void set_element(AnySpan values, std::int64_t i, float value);

// All elements as fp32; an empty operand gives an empty vector.
[[nodiscard]] std::vector<float> widened(ConstAnySpan values);

// to = from, rounded to the type of `to`.
void store(const std::vector<float>& from, AnySpan to);

[[nodiscard]] inline const float* data_or_null(const std::vector<float>& operand) {
  return operand.empty() ? nullptr : operand.data();
}

}  // namespace tandem
