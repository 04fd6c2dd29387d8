// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tandem::results {

// Whether a JSON text has more brackets open at once than anything that Tandem reads: writing such
// a value, as into an error, takes a stack frame for each.
[[nodiscard]] bool nests_too_deep(std::string_view json);

}  // namespace tandem::results
