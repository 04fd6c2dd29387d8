// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace tandem {

// The name of `known` that takes the fewest insertions, deletions and replacements of characters to
// come from `given`, where that is at most half of its length; else an empty one.
[[nodiscard]] std::string_view nearest_name(std::string_view given,
                                            std::span<const std::string_view> known);

}  // namespace tandem
