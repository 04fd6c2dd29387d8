// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem {

// A hint for a message: " (did you mean 'devices'?)", of the known name with the fewest typing
// errors against `given` (a letter added, missing or wrong, or two swapped letters), or of the only
// one that `given` begins; "" where no name is near enough.
[[nodiscard]] std::string did_you_mean(std::string_view given,
                                       std::span<const std::string_view> known);

// Throws the usage error of a value that is none of the known ones: "--launcher: 'srn' is unknown
// (did you mean 'srun'?); known are mpirun, srun".
[[noreturn]] void fail_unknown(std::string_view what, std::string_view given,
                               std::span<const std::string_view> known);

}  // namespace tandem
