// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace tandem {

// Ranks with a record in `folder` whose processes, on this host, the kernel has stopped (SIGSTOP, a
// debugger): evidence where a silent rank may as well be late. Only processes of the caller's own
// program count, for a number may have gone to another since. Throws nothing: none where it cannot
// look.
[[nodiscard]] std::vector<int> stopped_ranks(const std::filesystem::path& folder) noexcept;

}  // namespace tandem
