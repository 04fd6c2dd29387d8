// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/options/values.h"

namespace tandem::options {

// The text of --help behind an option's name: its strategies, what it does, an example.
[[nodiscard]] std::string help_of(Name name);

// The options of a group, each with what it takes, and its help with its default.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> help_lines(std::size_t group);

}  // namespace tandem::options
