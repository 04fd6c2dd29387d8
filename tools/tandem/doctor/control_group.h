// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tandem::doctor {

// The folders below `root` that limit this process's use of what `controller` ("cpu", "memory")
// shares out: that of its own control group and of all above, of version 1 and of version 2. Limits
// of all of them hold.
[[nodiscard]] std::vector<std::filesystem::path> control_groups(const std::filesystem::path& root,
                                                                const std::string& controller);

// The number that a file holds; nothing where it is absent or holds none ("max").
[[nodiscard]] std::optional<double> number_in(const std::filesystem::path& file);

// The number behind `key` in a file of lines "key number" or "key: number kB".
[[nodiscard]] std::optional<double> number_of(const std::filesystem::path& file,
                                              const std::string& key);

}  // namespace tandem::doctor
