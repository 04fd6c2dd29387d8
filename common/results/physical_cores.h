// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace tandem::results {

// Physical cores that `cpus` (numbers of hardware threads) lie on, after
// <system>/cpu*/topology; the number of `cpus` where the system does not tell of each of them. The
// same count as the host back end's, which uses one hardware thread of each core.
[[nodiscard]] int physical_cores(const std::vector<int>& cpus,
                                 const std::filesystem::path& system = "/sys/devices/system/cpu");

}  // namespace tandem::results
