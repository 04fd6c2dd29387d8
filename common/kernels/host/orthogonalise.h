// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

// Run by the caller at once; thread-safe on disjoint operands. The same bits whatever the vector
// width, so that ranks that start from the same bits end with the same.
void run(const Orthogonalise& op);

}  // namespace tandem::host
