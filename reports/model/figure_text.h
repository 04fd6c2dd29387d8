// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/model/ladder.h"

namespace tandem::reports {

inline constexpr const char* kNotResolved = "not resolved";
inline constexpr const char* kProjected = "projected";

// Whether the figure's sign is known.
[[nodiscard]] bool is_resolved(const Figure& figure);

// Whether the figure says saves or costs: it is resolved, or projected, whose error other figures
// tell.
[[nodiscard]] bool has_sign(const Figure& figure);

// "1.234 [1.200 .. 1.268]" in milliseconds, or "no figure".
[[nodiscard]] std::string milliseconds_text(const Figure& figure);

// "not resolved", "projected", the reason of a missing figure, or "".
[[nodiscard]] std::string remark(const Figure& figure);

// The figure in milliseconds, with its remark.
[[nodiscard]] std::string judged(const Figure& figure);

// A bar as long as the effect's share of `full` seconds: '#' saves, '-' costs, '~' is not resolved.
[[nodiscard]] std::string bar(const Figure& figure, double full);

}  // namespace tandem::reports
