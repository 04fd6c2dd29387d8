// SPDX-License-Identifier: Apache-2.0
//
// The requirements of every back end before an operation is enqueued: the operands' sizes and types
// must fit, and the memory that the operation reads and writes must be known.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/base/error.h"
#include "common/runtime/span.h"
#include "common/runtime/stream.h"

namespace tandem {

// An operand and the element count that the operation needs. A const element is only read. A span
// of any type has the type in which the operation computes.
struct Operand {
  template <class T>
  Operand(std::string_view operand_name, Span<T> span, std::int64_t needed)
      : name(operand_name), size(span.size()), count(needed) {
    access = std::is_const_v<T> ? reads(span) : writes(span);
  }

  template <class Byte>
  Operand(std::string_view operand_name, BasicAnySpan<Byte> span, std::int64_t needed)
      : Operand(operand_name, span.bytes(), needed) {
    size = span.size();
    type = span.dtype();
  }

  std::string_view name;
  std::int64_t size;
  std::int64_t count;
  std::optional<DType> type;
  Access access;
};

// The count of an operand that may be left out.
template <class AnyOperand>
[[nodiscard]] std::int64_t unless_empty(const AnyOperand& operand, std::int64_t count) {
  return operand.empty() ? 0 : count;
}

// The memory of operands that fit, to which back ends add their scratch memory. Throws a logic
// error that names the operand where its element count is not the one needed, or an open type is
// not `type`, in which the operation computes.
[[nodiscard]] std::vector<Access> checked(std::initializer_list<Operand> operands,
                                          DType type = DType::kFloat32);

// Adds such operands to those of other tensors.
void add_checked(std::vector<Access>& accesses, std::initializer_list<Operand> operands,
                 DType type = DType::kFloat32);

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
