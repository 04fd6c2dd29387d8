// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "bench/step/step_flags.h"

namespace tandem::bench {

// Options that differ from their defaults, by flag name and as given: the options in a cell's name.
[[nodiscard]] std::map<std::string, std::string> named_options(const StepFlags& flags);

}  // namespace tandem::bench
