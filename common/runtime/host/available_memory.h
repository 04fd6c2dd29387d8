// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/base/units.h"

namespace tandem::host {

// Memory that this process may still take: the machine's available memory, or the rest that the
// process's control group (version 2) leaves, whichever is less.
[[nodiscard]] Bytes available_memory();

}  // namespace tandem::host
