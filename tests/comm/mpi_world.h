// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/comm/bootstrap.h"

namespace tandem::test {

// The ranks that mpirun started.
[[nodiscard]] Bootstrap& world();

}  // namespace tandem::test
