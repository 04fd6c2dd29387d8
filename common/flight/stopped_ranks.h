// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace tandem {

// The ranks with a record in `folder` whose processes, on this host, the kernel has stopped
// (SIGSTOP, a debugger): such a rank is known to be stopped and not only late. Only processes of
// the caller's own program count, since another process may have taken over a number. Throws
// nothing: empty where processes cannot be inspected.
[[nodiscard]] std::vector<int> stopped_ranks(const std::filesystem::path& folder) noexcept;

}  // namespace tandem
