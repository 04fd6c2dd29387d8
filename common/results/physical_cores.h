// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace tandem::results {

// The number of physical cores that `cpus` (numbers of hardware threads) lie on, from
// <system>/cpu*/topology; the number of `cpus` where the system does not tell for each of them. The
// count equals the host back end's, which uses one hardware thread of each core.
[[nodiscard]] int physical_cores(const std::vector<int>& cpus,
                                 const std::filesystem::path& system = "/sys/devices/system/cpu");

}  // namespace tandem::results
