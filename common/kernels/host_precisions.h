// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/kernels/operations.h"

namespace tandem {

// Throws a usage error, with the way out, where this host's kernels lack the precision.
void check_host_has(Precision precision);

}  // namespace tandem
