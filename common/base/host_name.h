// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem {

// As this machine calls itself. Thread-safe.
[[nodiscard]] std::string host_name();

}  // namespace tandem
