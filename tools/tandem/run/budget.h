// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/base/clock.h"

namespace tandem::cli {

// Reads a duration as people plan: minutes and hours are allowed, "30m", "1.5h". Throws a usage
// error that names `option`.
[[nodiscard]] Seconds parse_long_duration(const std::string& text, const std::string& option);

}  // namespace tandem::cli
