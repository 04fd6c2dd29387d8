// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tools/tandem/sweep_reader.h"

// Private to the readers of sweep files.
namespace tandem::cli {

// Key 'devices': numbers from 1, "all", "1..all" or "doubling", or a list of these. Where one is
// named, in ascending order and each count once.
[[nodiscard]] std::vector<int> read_devices(const SweepReader& file, int all);

}  // namespace tandem::cli
