// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/text.h"
#include "common/stats/estimate.h"

namespace tandem::reports {

// The text "12.34 ms [11.9 .. 12.8]"; the interval has the centre's unit and is left out where it
// is missing.
[[nodiscard]] std::string duration_text(const stats::Estimate& seconds);
[[nodiscard]] std::string duration_text(double seconds);

// The text "12,345 [11,900 .. 12,800]", or "12,345 [interval unbounded]" where is_unbounded().
[[nodiscard]] std::string rate_text(const stats::Estimate& per_second);
[[nodiscard]] std::string rate_text(double per_second);

// The text "1.12x [1.08 .. 1.16]"; a factor beyond a thousand reads ">1000" or "<0.001".
[[nodiscard]] std::string ratio_text(const stats::Estimate& ratio);

// The estimate times `scale` with so many digits behind the point: a share as "78 % [76 .. 80]".
[[nodiscard]] std::string fixed_text(const stats::Estimate& estimate, int digits,
                                     std::string_view unit, double scale);

// The centre alone, "1.12x".
[[nodiscard]] std::string factor_text(double ratio);

// The text "1.12 times", of what is 1.12 times as fast: "1.12x faster" would read as 2.12 times.
[[nodiscard]] std::string times_text(double ratio);

// Whether several launches scatter so much that the interval has no upper end.
[[nodiscard]] bool is_unbounded(const stats::Estimate& estimate);

// Whether the interval spans more than a factor of three: such a figure decides nothing, and stands
// in the tables alone.
[[nodiscard]] bool is_too_wide(const stats::Estimate& estimate);
inline constexpr std::string_view kTooWide = "interval wider than 3x";

// The text "95 % interval 1.08 to 1.16", or why there is no interval.
[[nodiscard]] std::string interval_words(const stats::Estimate& ratio,
                                         double confidence = stats::kConfidence);

// The text "equal within 3 %", of the ratio 0.03 that counts as equal.
[[nodiscard]] std::string equal_text(double within);

[[nodiscard]] std::string join(const std::vector<std::string>& parts, const std::string& between);

}  // namespace tandem::reports
