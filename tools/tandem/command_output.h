// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem::cli {

// What a command of the shell writes to its output; empty where it cannot be started. Waits for it.
[[nodiscard]] std::string output_of(const std::string& command);

// The word as the shell takes it, whatever it holds.
[[nodiscard]] std::string quoted_for_shell(const std::string& word);

}  // namespace tandem::cli
