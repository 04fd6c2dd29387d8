// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tandem::cli {

// The last line of a child's stderr that says why it failed; "" where there is none. What mpirun
// adds between rulers, about a rank having ended, is passed over unless there is nothing else.
[[nodiscard]] std::string reason_in(std::string_view stderr_text);

// The last lines, for the record: 4 KiB at most.
[[nodiscard]] std::string tail_of(std::string_view stderr_text);

}  // namespace tandem::cli
