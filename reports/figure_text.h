// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/measured_ladder.h"

namespace tandem::reports {

inline constexpr const char* kNotResolved = "not resolved";

// Whether the sign is known.
[[nodiscard]] bool is_resolved(const Figure& figure);

// "1.234 [1.200 .. 1.268]" in milliseconds, or "no figure".
[[nodiscard]] std::string milliseconds_text(const Figure& figure);

// "not resolved", what is missing, or nothing.
[[nodiscard]] std::string remark(const Figure& figure);

// Both in one.
[[nodiscard]] std::string judged(const Figure& figure);

// As long as the effect's share of `full` seconds: '#' saves, '-' costs, '~' is not resolved.
[[nodiscard]] std::string bar(const Figure& figure, double full);

}  // namespace tandem::reports
