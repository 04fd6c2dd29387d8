// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

// Row by row, three passes over a row that the first pass brings into the cache. Run by the caller
// at once; thread-safe on disjoint operands. A target outside the classes is a logic error.
void run(const CrossEntropyLoss& op);
void run(const CrossEntropyLossBackward& op);

}  // namespace tandem::host
