// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

// `name` is a path where it holds a slash or ends in .json, else a sweep of the first of `folders`
// that has the sweep. Throws a usage error that lists the known sweeps. `all_devices` is
// parse_sweep()'s. Models that are workload files lie relative to the sweep's folder; the sweep
// names such a model as results name it.
[[nodiscard]] Sweep load_sweep(const std::string& name,
                               const std::vector<std::filesystem::path>& folders,
                               int all_devices = 0);

// The names and descriptions of the sweeps in the first of `folders` that has any, sorted by name.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> list_sweeps(
    const std::vector<std::filesystem::path>& folders);

}  // namespace tandem::cli
