// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem::pretend {

// "FILE:LINE OUTER" of the main thread's Python: its innermost line outside installed packages and
// the standard library, and the file of its innermost line of all. "- -" where no Python runs here.
// Takes Python's lock.
[[nodiscard]] std::string python_line();

}  // namespace tandem::pretend
