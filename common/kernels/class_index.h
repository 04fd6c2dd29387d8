// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/error.h"

namespace tandem {

// The whole number that an fp32 operand holds: the class or token that row `row` names. A number
// outside [0, count), or one that is not whole, is a logic error that names the operand and the
// row.
[[nodiscard]] inline std::int64_t class_index(float value, std::int64_t count,
                                              std::string_view operand, std::int64_t row) {
  const bool inside = value >= 0 && value < static_cast<float>(count);  // false for NaN
  const auto index = inside ? static_cast<std::int64_t>(value) : -1;
  if (!inside || static_cast<float>(index) != value || index >= count) {
    fail(ErrorKind::kLogic, "{}[{}] is {}, which is no whole number from 0 to {}", operand, row,
         value, count - 1);
  }
  return index;
}

}  // namespace tandem
