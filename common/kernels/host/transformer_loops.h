// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

// Run by the caller at once; thread-safe on disjoint operands. An id outside the table is a logic
// error.
void run(const EmbeddingForward& op);
void run(const EmbeddingBackward& op);

// Row by row, each row read from memory once. Run by the caller at once; thread-safe on disjoint
// operands and scratch memory. Sums are taken in double.
void run(const LayerNormForward& op);

// The scratch memory that the backward pass needs.
[[nodiscard]] Bytes scratch_size(const LayerNormBackward& op);
void run(const LayerNormBackward& op, std::byte* scratch);

}  // namespace tandem::host
