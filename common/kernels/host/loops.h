// SPDX-License-Identifier: Apache-2.0
//
// The operations other than products and convolutions, as vectorised loops. Run by the caller at
// once; thread-safe on disjoint operands and scratch memory. Products and sums are rounded one by
// one (no fused multiply-add) and sums are taken in a fixed order, so that the bits of a result do
// not depend on the vector width of the machine. A class or token out of range is a logic error; a
// failure in oneDNN, which multiplies for attention, is an error of kind failure.
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

void run(const ReluBackward& op);
void run(const GeluBackward& op);
void run(const EmbeddingForward& op);
void run(const EmbeddingBackward& op);
void run(const LayerNormForward& op);
void run(const MaxPoolForward& op);
void run(const AveragePoolBackward& op);
void run(const MseLoss& op);
void run(const MseLossBackward& op);
void run(const CrossEntropyLoss& op);
void run(const CrossEntropyLossBackward& op);
void run(const WeightedSum& op);
void run(const SgdUpdate& op);
void run(const AdamUpdate& op);
void run(const FillRandom& op);
void run(const Fill& op);
void run(const Scale& op);
void run(const Add& op);
void run(const AddScalar& op);
void run(const Subtract& op);
void run(const Convert& op);
void run(const Orthogonalise& op);

// The operations that need scratch memory, of scratch_size().
void run(const LayerNormBackward& op, std::byte* scratch);
void run(const AttentionForward& op, std::byte* scratch);
void run(const AttentionBackward& op, std::byte* scratch);
void run(const BatchNormForward& op, std::byte* scratch);
void run(const BatchNormBackward& op, std::byte* scratch);
void run(const MaxPoolBackward& op, std::byte* scratch);
void run(const AveragePoolForward& op, std::byte* scratch);

[[nodiscard]] Bytes scratch_size(const LayerNormBackward& op);
[[nodiscard]] Bytes scratch_size(const AttentionForward& op);
[[nodiscard]] Bytes scratch_size(const AttentionBackward& op);
[[nodiscard]] Bytes scratch_size(const BatchNormForward& op);
[[nodiscard]] Bytes scratch_size(const BatchNormBackward& op);
[[nodiscard]] Bytes scratch_size(const MaxPoolBackward& op);
[[nodiscard]] Bytes scratch_size(const AveragePoolForward& op);

// y = GELU of `before` (basic_operations.h), of the same type and size.
void gelu(ConstAnySpan before, AnySpan y);

}  // namespace tandem::host
