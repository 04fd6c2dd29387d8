// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

// Run by the caller at once; thread-safe on disjoint operands. The bits of the result do not depend
// on the vector width, so that ranks that start from the same bits end with the same bits.
void run(const Orthogonalise& op);

}  // namespace tandem::host
