// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/model/ladder.h"

namespace tandem::reports {

inline constexpr const char* kNotResolved = "not resolved";

// Whether the figure's sign is known.
[[nodiscard]] bool is_resolved(const Figure& figure);

// "1.234 [1.200 .. 1.268]" in milliseconds, or "no figure".
[[nodiscard]] std::string milliseconds_text(const Figure& figure);

// "not resolved", the reason of a missing figure, or "".
[[nodiscard]] std::string remark(const Figure& figure);

// The figure in milliseconds, with its remark.
[[nodiscard]] std::string judged(const Figure& figure);

// A bar as long as the effect's share of `full` seconds: '#' saves, '-' costs, '~' is not resolved.
[[nodiscard]] std::string bar(const Figure& figure, double full);

}  // namespace tandem::reports
