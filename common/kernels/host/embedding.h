// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

// Run by the caller at once; thread-safe on disjoint operands. An id outside the table is a logic
// error.
void run(const EmbeddingForward& op);
void run(const EmbeddingBackward& op);

}  // namespace tandem::host
