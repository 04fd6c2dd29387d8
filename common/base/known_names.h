// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem {

// A hint for a message: " (did you mean 'devices'?)", of the known name with the fewest typing
// errors against `given` (a letter added, missing or wrong, or two swapped letters); "" where no
// name is near enough.
[[nodiscard]] std::string did_you_mean(std::string_view given,
                                       std::span<const std::string_view> known);

}  // namespace tandem
