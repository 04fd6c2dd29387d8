// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem::cli {

// The signal's name, "SIGKILL"; "signal 77" where the number has no name.
[[nodiscard]] std::string signal_name(int signal);

}  // namespace tandem::cli
