// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

// y = GELU of `before` (linear_operations.h), of the same type and size. Run by the caller at once,
// like run(); both functions are thread-safe on disjoint operands.
void gelu(ConstAnySpan before, AnySpan y);

void run(const GeluBackward& op);

}  // namespace tandem::host
