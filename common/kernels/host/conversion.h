// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/operations.h"

namespace tandem::host {

// Run by the caller at once; thread-safe on disjoint operands.
void run(const Convert& op);

}  // namespace tandem::host
