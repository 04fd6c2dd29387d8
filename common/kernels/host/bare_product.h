// SPDX-License-Identifier: Apache-2.0
//
// The matrix products of the linear operations as bare calls of oneDNN's sgemm: no bias, no
// activation, nothing prepared. The yardstick for the operations and the training step, and the
// measured peak of a core. Run by the caller at once, with the caller's OpenMP thread count;
// thread-safe on disjoint outputs. Operands as in operations.h and fp32; sizes unchecked.
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

void bare_product(const LinearForward& op);         // y = x . weight^T
void bare_product(const LinearBackwardInput& op);   // dx = dy . weight
void bare_product(const LinearBackwardWeight& op);  // dweight = dy^T . x

}  // namespace tandem::host
