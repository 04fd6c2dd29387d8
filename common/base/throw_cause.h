// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/base/error.h"

namespace tandem {

// Throws what went wrong among those who work together, if anything did: the first error of
// someone's own; else what a communication says was the cause, and last that others gave up.
void throw_cause(const std::vector<std::optional<Error>>& errors);

}  // namespace tandem
