// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem {

// The known name that is the fewest typing errors away from `given` (a letter too many, missing,
// another one, or two changed places); "" where none is near enough to have been meant.
[[nodiscard]] std::string_view nearest_name(std::string_view given,
                                            std::span<const std::string_view> known);

// "; did you mean 'devices'?", or "".
[[nodiscard]] std::string did_you_mean(std::string_view given,
                                       std::span<const std::string_view> known);

}  // namespace tandem
