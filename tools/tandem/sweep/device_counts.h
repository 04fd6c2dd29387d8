// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tools/tandem/sweep/sweep_reader.h"

// Private to the readers of sweep files.
namespace tandem::cli {

// Reads key 'devices': numbers from 1, "all", "1..all" or "doubling", or a list of these. Where the
// list holds a name, the counts are sorted in ascending order, each once.
[[nodiscard]] std::vector<int> read_devices(const SweepReader& file, int all);

}  // namespace tandem::cli
