// SPDX-License-Identifier: Apache-2.0
//
// How naive() reads and writes operands of any type: element by element, through fp32.
#pragma once

#include <cstdint>
#include <vector>

#include "common/runtime/span.h"

namespace tandem {

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
