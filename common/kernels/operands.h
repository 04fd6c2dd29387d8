// SPDX-License-Identifier: Apache-2.0
//
// The requirements of every back end before an operation is enqueued: the operands' sizes and types
// must fit, and the memory that the operation reads and writes must be known.
#pragma once

#include <vector>

#include "common/kernels/operations.h"
#include "common/runtime/stream.h"

namespace tandem {

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
