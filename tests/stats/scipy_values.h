// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tandem::stats {

// scipy_values.json, which CMake makes a string of, so that the program needs no file beside it.
[[nodiscard]] std::string_view scipy_values();

}  // namespace tandem::stats
