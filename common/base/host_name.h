// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem {

// The host's name, as the machine itself gives it. Thread-safe.
[[nodiscard]] std::string host_name();

}  // namespace tandem
