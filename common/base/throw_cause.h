// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/base/error.h"

namespace tandem {

// Throws the cause among the errors of ranks that work together, if there is any error: the first
// error that is no communication error; else a communication error that names a cause, and last an
// abort by others.
void throw_cause(const std::vector<std::optional<Error>>& errors);

}  // namespace tandem
