// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

// Row by row, three passes over a row that the first one brings into the cache. Run by the caller
// at once; thread-safe on disjoint operands. A target that is no class is a logic error.
void run(const CrossEntropyLoss& op);
void run(const CrossEntropyLossBackward& op);

}  // namespace tandem::host
