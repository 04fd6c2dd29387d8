// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/options/values.h"

namespace tandem::options {

// The text of --help behind an option's name: its strategies, what it does, an example.
[[nodiscard]] std::string help_of(Name name);

// docs/options.md: all options, a table per group.
[[nodiscard]] std::string reference();

}  // namespace tandem::options
