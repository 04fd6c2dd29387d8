// SPDX-License-Identifier: Apache-2.0
//
// Numbers in files of /proc and /sys, and the control groups of this process.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tandem::doctor {

// The folders below `root` that limit this process's use of the resource of `controller` ("cpu",
// "memory"): the folders of the process's control group and of all its parents, in version 1 and in
// version 2. The limits of all folders apply at once.
[[nodiscard]] std::vector<std::filesystem::path> control_groups(const std::filesystem::path& root,
                                                                const std::string& controller);

// The number in a file; nothing where the file is absent or holds no number ("max").
[[nodiscard]] std::optional<double> number_in(const std::filesystem::path& file);

// The number behind `key` in a file of lines "key number" or "key: number kB".
[[nodiscard]] std::optional<double> number_of(const std::filesystem::path& file,
                                              const std::string& key);

}  // namespace tandem::doctor
