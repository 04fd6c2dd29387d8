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

// The checks that check_sizes() of every operation consists of; each throws a logic error that
// names the operand.
template <class Operand>
void check_count(const Operand& operand, std::int64_t expected, std::string_view name) {
  TANDEM_CHECK(operand.size() == expected, "{} has {} elements where {} are needed", name,
               operand.size(), expected);
}

// Checks the count of an operand that may be left out.
template <class Operand>
void check_optional(const Operand& operand, std::int64_t expected, std::string_view name) {
  if (!operand.empty()) check_count(operand, expected, name);
}

// Checks that operations compute on this type.
inline void check_computes(DType type, std::string_view name) {
  TANDEM_CHECK(type == DType::kFloat32 || type == DType::kBFloat16, "{} is {}", name,
               name_of(type));
}

inline void check_type(ConstAnySpan operand, DType expected, std::string_view name) {
  TANDEM_CHECK(operand.empty() || operand.dtype() == expected, "{} is {} where {} is needed", name,
               name_of(operand.dtype()), name_of(expected));
}

// Throws a logic error where an operand's element count does not fit the others or the shape, or
// the operand's element type does not fit the others' (operations.h).
void check_sizes(const LinearForward& op);
void check_sizes(const LinearBackwardInput& op);
void check_sizes(const LinearBackwardWeight& op);
void check_sizes(const ReluBackward& op);
void check_sizes(const GeluBackward& op);
void check_sizes(const EmbeddingForward& op);
void check_sizes(const EmbeddingBackward& op);
void check_sizes(const LayerNormForward& op);
void check_sizes(const LayerNormBackward& op);
void check_sizes(const AttentionForward& op);
void check_sizes(const AttentionBackward& op);
void check_sizes(const MseLoss& op);
void check_sizes(const MseLossBackward& op);
void check_sizes(const CrossEntropyLoss& op);
void check_sizes(const CrossEntropyLossBackward& op);
void check_sizes(const WeightedSum& op);
void check_sizes(const SgdUpdate& op);
void check_sizes(const AdamUpdate& op);
void check_sizes(const FillRandom& op);
void check_sizes(const Fill& op);
void check_sizes(const Scale& op);
void check_sizes(const Add& op);
void check_sizes(const AddScalar& op);
void check_sizes(const Subtract& op);
void check_sizes(const Convert& op);
void check_sizes(const Orthogonalise& op);

[[nodiscard]] std::vector<Access> accesses(const LinearForward& op);
[[nodiscard]] std::vector<Access> accesses(const LinearBackwardInput& op);
[[nodiscard]] std::vector<Access> accesses(const LinearBackwardWeight& op);
[[nodiscard]] std::vector<Access> accesses(const ReluBackward& op);
[[nodiscard]] std::vector<Access> accesses(const GeluBackward& op);
[[nodiscard]] std::vector<Access> accesses(const EmbeddingForward& op);
[[nodiscard]] std::vector<Access> accesses(const EmbeddingBackward& op);
[[nodiscard]] std::vector<Access> accesses(const LayerNormForward& op);
[[nodiscard]] std::vector<Access> accesses(const LayerNormBackward& op);
[[nodiscard]] std::vector<Access> accesses(const AttentionForward& op);
[[nodiscard]] std::vector<Access> accesses(const AttentionBackward& op);
[[nodiscard]] std::vector<Access> accesses(const MseLoss& op);
[[nodiscard]] std::vector<Access> accesses(const MseLossBackward& op);
[[nodiscard]] std::vector<Access> accesses(const CrossEntropyLoss& op);
[[nodiscard]] std::vector<Access> accesses(const CrossEntropyLossBackward& op);
[[nodiscard]] std::vector<Access> accesses(const WeightedSum& op);
[[nodiscard]] std::vector<Access> accesses(const SgdUpdate& op);
[[nodiscard]] std::vector<Access> accesses(const AdamUpdate& op);
[[nodiscard]] std::vector<Access> accesses(const FillRandom& op);
[[nodiscard]] std::vector<Access> accesses(const Fill& op);
[[nodiscard]] std::vector<Access> accesses(const Scale& op);
[[nodiscard]] std::vector<Access> accesses(const Add& op);
[[nodiscard]] std::vector<Access> accesses(const AddScalar& op);
[[nodiscard]] std::vector<Access> accesses(const Subtract& op);
[[nodiscard]] std::vector<Access> accesses(const Convert& op);
[[nodiscard]] std::vector<Access> accesses(const Orthogonalise& op);

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
