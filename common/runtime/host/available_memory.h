// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/base/units.h"

namespace tandem::host {

// Memory that this process may still take: what the machine has available, or what its control
// group (version 2) leaves, whichever is less.
[[nodiscard]] Bytes available_memory();

}  // namespace tandem::host
