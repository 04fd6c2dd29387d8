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

void naive(const LinearForward& op);
void naive(const LinearBackwardInput& op);
void naive(const LinearBackwardWeight& op);
void naive(const ReluBackward& op);
void naive(const GeluBackward& op);
void naive(const EmbeddingForward& op);
void naive(const EmbeddingBackward& op);
void naive(const LayerNormForward& op);
void naive(const LayerNormBackward& op);
void naive(const AttentionForward& op);
void naive(const AttentionBackward& op);
void naive(const MseLoss& op);
void naive(const MseLossBackward& op);
void naive(const CrossEntropyLoss& op);
void naive(const CrossEntropyLossBackward& op);
void naive(const WeightedSum& op);
void naive(const SgdUpdate& op);
void naive(const AdamUpdate& op);
void naive(const FillRandom& op);
void naive(const Fill& op);
void naive(const Scale& op);
void naive(const Add& op);
void naive(const AddScalar& op);
void naive(const Subtract& op);
void naive(const Convert& op);
void naive(const Orthogonalise& op);

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
