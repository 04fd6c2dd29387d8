// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "common/base/error.h"

namespace tandem {

// Throws what went wrong among those who work together, if anything did: the first that is no lost
// peer, since one's failure is another's lost peer; else the first of all.
void throw_cause(const std::vector<std::optional<Error>>& errors);

}  // namespace tandem
