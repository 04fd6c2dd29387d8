// SPDX-License-Identifier: Apache-2.0
//
// The requirements of every back end before an operation is enqueued: the operands' sizes and types
// must fit, and the memory that the operation reads and writes must be known.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/kernels/operations.h"
#include "common/runtime/span.h"
#include "common/runtime/stream.h"

namespace tandem {

// The memory that an operation reads and writes. Throws a logic error that names the operand where
// the operand's element count does not fit the others or the shape, or the operand's element type
// does not fit the others' (operations.h).
#define TANDEM_ACCESSES(Op, name) [[nodiscard]] std::vector<Access> accesses(const Op& op);
TANDEM_EACH_OPERATION(TANDEM_ACCESSES)
#undef TANDEM_ACCESSES

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

// What lies in AdamUpdate's clock.
[[nodiscard]] inline AdamClock& clock_of(const AdamUpdate& op) {
  return *reinterpret_cast<AdamClock*>(op.clock.data());
}

// The address of an operand that may be left out; null where the operand is left out.
template <class T>
[[nodiscard]] T* data_or_null(Span<T> operand) {
  return operand.empty() ? nullptr : operand.data();
}
template <class Byte>
[[nodiscard]] Byte* data_or_null(BasicAnySpan<Byte> operand) {
  return operand.empty() ? nullptr : operand.data();
}

}  // namespace tandem
