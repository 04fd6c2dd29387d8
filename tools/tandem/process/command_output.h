// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem::cli {

// Runs a command in the shell, waits for its end and returns what the command wrote to stdout;
// empty where the command cannot be started.
[[nodiscard]] std::string output_of(const std::string& command);

// The word, quoted so that the shell takes every character literally.
[[nodiscard]] std::string quoted_for_shell(const std::string& word);

}  // namespace tandem::cli
