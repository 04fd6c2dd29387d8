// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/tandem/sweep.h"

namespace tandem::cli {

// `name` is a path where it holds a slash or ends in .json, else a sweep of the first of `folders`
// that has it. Throws a usage error that lists what there is. `all_devices` as parse_sweep() has
// it. Models that are workload files lie relative to the sweep's folder; wherever the sweep has
// one, it is named as results name it.
[[nodiscard]] Sweep load_sweep(const std::string& name,
                               const std::vector<std::filesystem::path>& folders,
                               int all_devices = 0);

// Names and descriptions of the sweeps of the first of `folders` that has some, by name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> list_sweeps(
    const std::vector<std::filesystem::path>& folders);

}  // namespace tandem::cli
